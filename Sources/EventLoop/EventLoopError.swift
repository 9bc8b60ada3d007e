internal import CLibuv

/// A call of the event loop that failed.
package struct EventLoopError: Error, CustomStringConvertible, Sendable {
    /// libuv's code: a negative errno.
    package let code: Int32
    /// The call that failed.
    package let call: String

    package var description: String {
        "\(call): \(String(cString: uv_strerror(code)))"
    }

    /// Throws when `code` is one of libuv's error codes, which are all negative.
    static func check(_ code: Int32, _ call: StaticString) throws(EventLoopError) {
        guard code < 0 else { return }
        throw EventLoopError(code: code, call: "\(call)")
    }

    /// What every maker of handles throws once the loop is closed.
    static func closed(_ call: StaticString) -> EventLoopError {
        EventLoopError(code: UV_ECANCELED.rawValue, call: "\(call) on a closed loop")
    }
}
