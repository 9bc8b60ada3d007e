/// Why a local APNs could not start: what is wrong, where, and what to do.
package struct MockError: Error, CustomStringConvertible, Sendable {
    package let description: String

    init(_ description: String) { self.description = description }
}
