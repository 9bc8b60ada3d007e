/// The layers that run inside this process: `micro` and `path`.
struct MicroLayer {
    let options: Options
    let work: WorkFolder

    /// All cases; the last one is the path. Preparing them takes a second.
    func cases() throws -> [MicroCase] {
        // The path takes its rows in thousands of tens.
        let rows = try Rows(work, count: options.size == .tiny ? 10_000 : 20_000)
        var cases = try ReaderCases(rows: rows).all() + RowCases(rows: rows).all()
        if options.wants("request") || options.wants("path") {
            let canned = try CannedServer()
            cases.append(RequestCase(canned: canned).microCase())
            cases.append(try PathCase(rows: rows, canned: canned).microCase())
        }
        return cases
    }

    func run(_ layers: [String], into file: ResultFile) throws {
        let timing: MicroTiming =
            switch options.size {
            case .full: .full
            case .quick: .quick
            case .tiny: .tiny
            }
        let counter = AllocationCounter()
        if counter == nil { try file.skip("allocations: count-allocations.so is not preloaded") }
        for microCase in try cases() where options.wants(microCase.name) {
            let layer = microCase.name == "path" ? "path" : "micro"
            guard layers.contains(layer), !file.holds(layer, microCase.name) else { continue }
            say("\(layer): \(microCase.name)")
            try file.add([microCase.measure(timing, counter, layer: layer)])
        }
    }
}
