internal import Glibc

/// Counts the instructions of the micro cases with valgrind, which gives the same number in every
/// run: the only speed that a test can hold against a threshold on any machine.
///
/// The C library chooses its functions by what the processor can do; it is told to do with what all
/// of them can (`GLIBC_TUNABLES`), so that the counts are those of the distribution.
struct InstructionGate {
    /// Compilers' minor releases and the C library's change a little here and there.
    static let margin = 0.05
    /// Functions that begin and end a count: valgrind writes its counter at each call.
    static let mark = "peal_benchmark_mark"

    let options: Options
    let work: WorkFolder

    /// The counted program: every case once to warm up, then between two marks.
    static func countedRun(_ options: Options, _ work: WorkFolder) throws {
        let layer = MicroLayer(options: options, work: work)
        for microCase in try layer.cases()
        where microCase.countsInstructions && options.wants(microCase.name) {
            let operations = microCase.operationsOfCountedRun
            try microCase.perform(operations)
            markForCounting()
            try microCase.perform(operations)
            markForCounting()
            show("\(microCase.name) \(operations)")
        }
    }

    /// Instructions per operation.
    func measure() throws -> [(name: String, count: Double)] {
        guard findProgram("valgrind") != nil else {
            throw Failure("valgrind is not installed (apt-get install valgrind)")
        }
        let output = work.path + "/callgrind.out"
        let child = try ChildProcess(
            [
                "valgrind", "--tool=callgrind", "--callgrind-out-file=\(output)",
                "--dump-before=\(Self.mark)", CommandLine.arguments[0], "--counted-run",
            ] + (options.caseText.map { ["--case", $0] } ?? [])
                + (options.size == .tiny ? ["--tiny"] : []),
            environment: [
                "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + Self.withheld.joined(separator: ","),
                "SWIFT_DETERMINISTIC_HASHING": "1",
            ], logs: work.newLogs("valgrind"))
        try child.waitForSuccess()
        let cases = textFile(child.outputPath).split(separator: "\n").map {
            $0.split(separator: " ")
        }
        return try cases.enumerated().map { index, words in
            // Dump 1 is what came before the first mark; dump 2 the first case; and so on.
            let total = textFile("\(output).\(2 * index + 2)").split(separator: "\n")
                .first { $0.hasPrefix("totals: ") || $0.hasPrefix("summary: ") }
            guard let count = total?.split(separator: " ").last.flatMap({ Double($0) }),
                let operations = Double(words[1])
            else { throw Failure("valgrind's dump of \(words[0]) is not understood") }
            return (String(words[0]), count / operations)
        }
    }

    private static let withheld = [
        "-AVX2_Usable", "-AVX2", "-AVX512F", "-AVX512VL", "-AVX512BW", "-BMI1", "-BMI2", "-ERMS",
        "-FSRM", "-LZCNT", "-MOVBE", "-RTM", "-SSE4_2", "-SSE4_1", "-SSSE3", "-POPCNT",
        "-AVX_Fast_Unaligned_Load", "-Fast_Unaligned_Copy", "-Prefer_No_VZEROUPPER",
    ]

    func check(against thresholds: Thresholds) throws {
        guard thresholds.machine == Thresholds.machine else {
            say(
                """
                SKIPPED: instruction counts, because Benchmarks/thresholds.json has those of \
                \(thresholds.machine), and this is \(Thresholds.machine)
                """)
            return
        }
        var table = Table(["instructions of", "now", "then", "change"])
        var failures: [String] = []
        for (name, count) in try measure() {
            let then = thresholds.instructions.first { $0.name == name }?.count
            let change = then.map { (count / $0 - 1) * 100 }
            table.add([
                name, NumberText.short(count), then.map(NumberText.short) ?? "-",
                change.map { NumberText.fixed($0, places: 1) + " %" } ?? "new",
            ])
            if change ?? 0 > Self.margin * 100 { failures.append(name) }
        }
        show(table.text)
        guard failures.isEmpty else {
            throw Failure(
                """
                more instructions than Benchmarks/thresholds.json and 5 %: \
                \(failures.joined(separator: ", ")). Find out why; if it has to be, \
                `tools/benchmark --renew` writes the file anew
                """)
        }
    }
}

extension MicroCase {
    /// At least `operationsCounted`, in whole steps.
    fileprivate var operationsOfCountedRun: Int {
        max(1, (operationsCounted / 4 + operationsStep - 1) / operationsStep) * operationsStep
    }
}

/// valgrind finds it by its name.
@c(peal_benchmark_mark) @inline(never)
func markForCounting() { keep(1) }
