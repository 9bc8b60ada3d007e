/// What the command line asks for.
struct Options {
    static let layers = [
        "micro", "path", "wire", "rivals", "paced", "distance", "scale", "start",
    ]
    static let usage = """
        usage: tools/benchmark [LAYER…] [--quick] [--case TEXT] [--rounds N] [--json FILE] [--continue]
               tools/benchmark report [FILE]
               tools/benchmark --allocations | --instructions | --renew

        LAYERs: micro path wire rivals paced distance scale start (default: all).
          --quick         a short subset with fewer rounds
          --tiny          the smallest inputs: whether it runs at all; its figures say nothing
          --case TEXT     only cases whose name holds TEXT
          --rounds N      so many interleaved rounds (default: 5, with --quick 3)
          --json FILE     where the results go (default: .build/benchmark/results.json)
          --continue      leaves out the cases that FILE already holds
        report            writes Benchmarks/RESULTS.md and its plot from FILE; --output FOLDER: there
        --allocations     checks allocations per 1,000 notifications against Benchmarks/thresholds.json
        --instructions    checks instructions of the micro cases against it
        --renew           measures both and writes that file anew; --thresholds FILE: another one
        """

    enum Size { case full, quick, tiny }
    enum Action { case run, report, allocations, instructions, renew, countedRun }

    var action = Action.run
    var layers: [String] = []
    var size = Size.full
    var caseText: String?
    var rounds: Int
    var jsonPath = ""
    var continues = false
    var thresholdsPath = projectRoot + "/Benchmarks/thresholds.json"
    /// Where the report goes.
    var outputFolder = projectRoot + "/Benchmarks"
    /// The program that is measured.
    var peal = projectRoot + "/.build/release/peal"

    init(_ arguments: some Sequence<String>) throws(Failure) {
        var rest = Array(arguments)[...]
        var roundsGiven: Int?
        func value(_ option: String) throws(Failure) -> String {
            guard let value = rest.popFirst() else {
                throw Failure("\(option) needs a value\n\(Self.usage)")
            }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": size = .quick
            case "--tiny": size = .tiny
            case "--case": caseText = try value(argument)
            case "--rounds":
                guard let number = Int(try value(argument)), number > 0 else {
                    throw Failure("--rounds needs a number above 0")
                }
                roundsGiven = number
            case "--json": jsonPath = try value(argument)
            case "--peal": peal = try value(argument)
            case "--thresholds": thresholdsPath = try value(argument)
            case "--output": outputFolder = try value(argument)
            case "--continue": continues = true
            case "--allocations": action = .allocations
            case "--instructions": action = .instructions
            case "--renew": action = .renew
            case "--counted-run": action = .countedRun
            case "report":
                action = .report
                if let path = rest.first, !path.hasPrefix("--") { jsonPath = rest.removeFirst() }
            case "all": layers = Self.layers
            default:
                guard Self.layers.contains(argument) else {
                    throw Failure("unknown: \(argument)\n\(Self.usage)")
                }
                layers.append(argument)
            }
        }
        if jsonPath.isEmpty {
            let isPart = !layers.isEmpty || caseText != nil
            jsonPath = projectRoot + "/.build/benchmark/\(isPart ? "part" : "results").json"
        }
        if layers.isEmpty { layers = Self.layers }
        rounds = roundsGiven ?? (size == .full ? 5 : size == .quick ? 3 : 1)
    }

    /// Whether a case is wanted.
    func wants(_ name: String) -> Bool { caseText.map { contains(name, $0) } ?? true }
}

/// Whether `text` stands in `whole`.
func contains(_ whole: String, _ text: String) -> Bool {
    let (whole, text) = (Array(whole.utf8), Array(text.utf8))
    guard whole.count >= text.count else { return false }
    return (0...whole.count - text.count).contains { whole[$0..<$0 + text.count] == text[...] }
}
