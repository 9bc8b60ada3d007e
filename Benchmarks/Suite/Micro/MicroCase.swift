internal import Glibc

/// A small piece of work that is repeated: what one operation costs.
struct MicroCase {
    let name: String
    /// Bytes of input that an operation works on; 0 where that says nothing.
    var bytesPerOperation = 0.0
    /// `perform` is called for whole multiples of so many operations.
    var operationsStep = 1
    /// Whether the number of instructions is the same on every machine of a distribution, so that
    /// it can be held against a threshold.
    var countsInstructions = true
    /// Operations of one counted run: enough for the start of it not to show.
    var operationsCounted = 20_000
    /// Does so many operations.
    let perform: (Int) throws -> Void
}

/// How long and how often a micro case is run.
struct MicroTiming {
    let rounds: Int
    let roundNs: Double

    static let full = MicroTiming(rounds: 9, roundNs: 150e6)
    static let quick = MicroTiming(rounds: 5, roundNs: 30e6)
    static let tiny = MicroTiming(rounds: 1, roundNs: 1e6)
}

extension MicroCase {
    /// Finds out how many operations a round takes (which warms up), then runs the rounds.
    func measure(
        _ timing: MicroTiming, _ allocations: AllocationCounter?, layer: String
    ) throws -> CaseResult {
        var operations = operationsStep
        while true {
            let ns = try elapsedNs(operations)
            if ns >= timing.roundNs { break }
            // At most tenfold, because the first rounds are cold; not less than double.
            let factor = min(10, max(2, 1.1 * timing.roundNs / max(ns, 1)))
            let wanted = Int(Double(operations) * factor)
            operations = (wanted + operationsStep - 1) / operationsStep * operationsStep
        }
        var ns: [Double] = []
        var counts: [Double] = []
        var bytes: [Double] = []
        for _ in 0..<timing.rounds {
            let countBefore = allocations?.count ?? 0
            let bytesBefore = allocations?.bytes ?? 0
            ns.append(try elapsedNs(operations) / Double(operations))
            guard let allocations else { continue }
            counts.append(Double(allocations.count - countBefore) / Double(operations))
            bytes.append(Double(allocations.bytes - bytesBefore) / Double(operations))
        }
        var result = CaseResult(layer: layer, name: name)
        result.figures.append(("time", Figure(ns, "ns/op")))
        if bytesPerOperation > 0 {
            let rates = ns.map { bytesPerOperation / $0 * 1000 }
            result.figures.append(("throughput", Figure(rates, "MB/s")))
        }
        if !counts.isEmpty {
            result.figures.append(("allocations", Figure(counts, "per op")))
            result.figures.append(("allocated", Figure(bytes, "bytes/op")))
        }
        return result
    }

    /// Processor time: none of these cases waits for anything.
    private func elapsedNs(_ operations: Int) throws -> Double {
        let start = processorNs()
        try perform(operations)
        return Double(processorNs() - start)
    }
}
