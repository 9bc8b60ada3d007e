internal import JSON

/// `Benchmarks/thresholds.json`: counts that may not grow, as they were when they were last looked
/// at.
struct Thresholds {
    /// Instructions are those of one processor's and one compiler's code.
    static var machine: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            "other"
        #endif
    }

    var machine = Thresholds.machine
    /// Allocations per 1,000 notifications of `peal send`, by who makes them.
    var allocations: [(owner: String, perThousand: Double)] = []
    /// Instructions per operation of the micro cases.
    var instructions: [(name: String, count: Double)] = []

    static func read(_ path: String) throws(Failure) -> Thresholds {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONDocument.parse(bytesOfFile(path), dialect: .json5)
        } catch {
            throw Failure("\(path) cannot be read: \(error); `tools/benchmark --renew` writes it")
        }
        var thresholds = Thresholds()
        thresholds.machine = node["machine"]?.asString ?? ""
        thresholds.allocations = (node["allocationsPer1000"]?.members ?? []).compactMap { member in
            member.value.asDouble.map { (member.key, $0) }
        }
        thresholds.instructions = (node["instructionsPerOperation"]?.members ?? []).compactMap {
            member in member.value.asDouble.map { (member.key, $0) }
        }
        return thresholds
    }

    func write(_ path: String) throws(Failure) {
        var json = JSONWriter(pretty: true)
        json.beginObject()
        json.key("machine")
        json.string(machine)
        json.key("allocationsPer1000")
        json.beginObject()
        for (owner, number) in allocations {
            json.key(owner)
            json.number(Int(number.rounded()))
        }
        json.endObject()
        json.key("instructionsPerOperation")
        json.beginObject()
        for (name, number) in instructions {
            json.key(name)
            json.number((number * 10).rounded() / 10)
        }
        json.endObject()
        json.endObject()
        try writeFile(path, json.bytes + [10])
    }
}
