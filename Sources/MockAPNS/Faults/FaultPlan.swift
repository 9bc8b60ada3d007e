internal import JSON

/// The faults that a local APNs is to show, in the order given.
///
/// *Limits*: 64 faults.
package struct FaultPlan: Sendable {
    private static let rulesMax = 64

    private(set) var rules: [FaultRule] = []

    package init() {}

    package var isEmpty: Bool { rules.isEmpty }
    package var count: Int { rules.count }

    /// Adds one fault as it is written on a command line: `status=503 reason=Shutdown p=0.01`.
    ///
    /// *Errors*: what is wrong, in which column, and what to write.
    package mutating func add(spec: String) throws(MockError) {
        do throws(FaultError) {
            try add(try FaultReader.rule(FaultField.fields(ofSpec: spec), place: "column 1"))
        } catch {
            throw MockError("--fault \"\(spec)\": \(error.place): \(error.text)")
        }
    }

    /// Adds the faults of a JSON5 file: `[{ status: 503, reason: "Shutdown", p: 0.01 }, …]`, with
    /// the keys of a specification; `name` stands in messages.
    ///
    /// *Errors*: what is wrong, in which line and column, and what to write.
    package mutating func add(file: [UInt8], name: String) throws(MockError) {
        let document: JSONNode
        do {
            document = try JSONDocument.parse(file, dialect: .json5)
        } catch {
            throw MockError("\(name):\(error)")
        }
        do throws(FaultError) {
            guard let elements = document.elements else {
                throw FaultError(
                    FaultField.place(document.position),
                    "the faults stand in a list: [{ status: 503, p: 0.01 }, …], not in "
                        + document.kindName)
            }
            for element in elements {
                try add(
                    try FaultReader.rule(
                        FaultField.fields(of: element),
                        place: FaultField.place(element.position)))
            }
        } catch {
            throw MockError("\(name):\(error.place): \(error.text)")
        }
    }

    private mutating func add(_ rule: FaultRule) throws(FaultError) {
        guard rules.count < Self.rulesMax else {
            throw FaultError("column 1", "there are more than \(Self.rulesMax) faults; give fewer")
        }
        rules.append(rule)
    }
}
