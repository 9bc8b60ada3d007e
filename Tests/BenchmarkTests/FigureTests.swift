import Testing

@testable import peal_benchmark

/// The arithmetic of the benchmarks.
struct FigureTests {
    @Test func theMedianIsTheMiddleOrTheMeanOfTheMiddleTwo() {
        #expect(Figure([3, 1, 2], "ns").median == 2)
        #expect(Figure([4, 1, 3, 2], "ns").median == 2.5)
        #expect(Figure([7], "ns").median == 7)
    }

    @Test(arguments: [
        (0.0, "0"), (0.0314, "0.031"), (1.372, "1.37"), (9.996, "10.00"), (12.34, "12.3"),
        (999.4, "999"), (1_234_567.8, "1,234,568"), (-3.25, "-3.25"), (2, "2"),
    ])
    func numbersHaveThreeDigits(number: Double, text: String) {
        #expect(NumberText.short(number) == text)
    }

    @Test func theNoteNamesWhoHeldTheRateDown() {
        func note(_ client: Double, _ server: Double, _ rate: Double) -> String {
            CaseResult(
                layer: "wire", name: "", subject: "",
                [
                    Sample(
                        clientMicroseconds: client, serverMicroseconds: server, perSecond: rate)
                ]
            ).note
        }
        // 2 µs × 300,000 per second are 0.6 of a core.
        #expect(note(2, 3, 300_000) == "server-bound: client 60 %, server 90 %")
        #expect(note(3, 2, 300_000) == "client-bound: client 90 %, server 60 %")
        #expect(note(2, 2, 100_000) == "waiting: client 20 %, server 20 %")
    }

    @Test func optionsAreRead() throws {
        let options = try Options(["micro", "--case", "csv", "wire", "--quick"])
        #expect(options.layers == ["micro", "wire"])
        #expect(options.wants("csv-read") && !options.wants("ledger"))
        #expect(options.rounds == 3)
        #expect(throws: Failure.self) { try Options(["macro"]) }
    }
}
