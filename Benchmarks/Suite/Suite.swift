/// Does what the command line asks for.
struct Suite {
    let options: Options

    func perform() throws {
        switch options.action {
        case .run: try run()
        case .report:
            let file = try ResultFile(reading: options.jsonPath)
            try Report(file: file, folder: options.outputFolder).write()
        case .allocations:
            try AllocationGate(options: options, work: try WorkFolder())
                .check(against: Thresholds.read(options.thresholdsPath))
        case .instructions:
            try InstructionGate(options: options, work: try WorkFolder())
                .check(against: Thresholds.read(options.thresholdsPath))
        case .renew: try renew()
        case .countedRun: try InstructionGate.countedRun(options, WorkFolder())
        }
    }

    private func renew() throws {
        let work = try WorkFolder()
        var thresholds = Thresholds()
        thresholds.allocations = try AllocationGate(options: options, work: work).measure()
        thresholds.instructions = try InstructionGate(options: options, work: work).measure()
        try thresholds.write(options.thresholdsPath)
        say("\(options.thresholdsPath) is written anew: look at what has changed in it")
    }

    private func run() throws {
        let work = try WorkFolder()
        let file = try ResultFile(
            path: options.jsonPath, continues: options.continues,
            facts: Machine.facts(options, work))
        let needsPeal = options.layers.contains { $0 != "micro" && $0 != "path" }
        if needsPeal, findProgram(options.peal) == nil {
            throw Failure("\(options.peal) is missing: run tools/benchmark, which builds it")
        }
        for layer in options.layers {
            let start = monotonicNs()
            try run(layer, work, file)
            let seconds = Double(monotonicNs() - start) / 1e9
            let results = file.results.filter { $0.layer == layer && options.wants($0.name) }
            guard !results.isEmpty else { continue }
            say("\(layer) took \(NumberText.fixed(seconds, places: 1)) s")
            show("\n\(layer)\n\(Table(of: results).text)")
        }
        say("the results are in \(options.jsonPath)")
    }

    private func run(_ layer: String, _ work: WorkFolder, _ file: ResultFile) throws {
        switch layer {
        case "micro", "path":
            try MicroLayer(options: options, work: work).run([layer], into: file)
        case "wire": try WireLayer(options: options, work: work).run(into: file)
        case "rivals": try RivalsLayer(options: options, work: work).run(into: file)
        case "paced": try PacedLayer(options: options, work: work).run(into: file)
        case "distance": try DistanceLayer(options: options, work: work).run(into: file)
        case "scale": try ScaleLayer(options: options, work: work).run(into: file)
        case "start": try StartLayer(options: options, work: work).run(into: file)
        default: preconditionFailure("the options name no other layer")
        }
    }
}
