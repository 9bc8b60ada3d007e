import HTTP2
import Testing

@testable import MockAPNS

/// How faults are written.
struct FaultPlanTests {
    private func rules(_ specs: String...) throws -> [FaultRule] {
        var plan = FaultPlan()
        for spec in specs { try plan.add(spec: spec) }
        return plan.rules
    }

    @Test("the example of each kind is a fault of that kind", arguments: FaultKind.allCases)
    func examples(kind: FaultKind) throws {
        #expect(try rules(kind.row.example).map(\.action.kind) == [kind])
        #expect(FaultHelp.text.contains("--fault \"\(kind.row.example)\""))
    }

    @Test("help fits a terminal of 80 columns") func helpWidth() {
        #expect(FaultHelp.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("a file means the same as specifications")
    func file() throws {
        var plan = FaultPlan()
        let file = """
            // What a bad day looks like.
            [
              { status: 503, reason: 'Shutdown', p: 0.25, from: '5s', to: '10s' },
              { silence: true, token: 'AB', times: 3 },
              { goaway: 'graceful', text: 'too_many', code: 'enhance-your-calm', wait: '50ms' },
              { settings: true, streams: 7, per: 'connection' },
            ]
            """
        try plan.add(file: Array(file.utf8), name: "faults.json5")
        #expect(
            try plan.rules
                == rules(
                    "status=503 reason=Shutdown p=0.25 from=5s to=10s", "silence,token=ab,times=3",
                    "goaway=graceful text=too_many code=11 wait=50ms",
                    "settings streams=7 per=connection"))
    }

    @Test("values are what they say")
    func values() throws {
        let found = try rules(
            "latency=20ms", "latency=1ms..2s", "latency=lognormal:20ms:0.5", "reset=cancel",
            "status=410 timestamp=1", "reason=Unregistered", "status=418", "goaway reason=Shutdown")
        #expect(found[0].action == .latency(.uniform(fromNs: 20_000_000, toNs: 20_000_000)))
        #expect(found[1].action == .latency(.uniform(fromNs: 1_000_000, toNs: 2_000_000_000)))
        #expect(found[2].action == .latency(.logNormal(medianNs: 20_000_000, sigma: 0.5)))
        #expect(found[3].action == .reset(HTTP2ErrorCode(rawValue: 8)))
        #expect(
            found[4].action
                == .status(FaultAnswer(status: 410, reason: "Unregistered", timestampMs: 1)))
        #expect(found[5].action == .status(FaultAnswer(status: 410, reason: "Unregistered")))
        #expect(found[6].action == .status(FaultAnswer(status: 418)))
        #expect(
            found[7].action
                == .goAway(
                    FaultGoAway(
                        isGraceful: false, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))))
    }

    @Test(
        "a mistake is named with its column and a remedy",
        arguments: [
            ("satus=503", "column 1: \"satus\" is no fault; did you mean \"status\"?"),
            ("status=5033", "column 8: status takes a status from 200 to 599"),
            ("status=503  raeson=X", "column 13: status has no \"raeson\"; did you mean"),
            ("p=0.1", "column 1: nothing says what to do"), ("", "nothing says what to do"),
            ("reason=Shutdwn", "column 8: the status of \"Shutdwn\" is not known; did you mean"),
            ("status=503 cut", "column 12: status and cut are two faults"),
            ("cut p=1.5", "column 7: p takes a probability from 0 to 1"),
            ("cut every=0", "column 11"), ("cut p=0.1 p=0.2", "column 11: p is given twice"),
            ("cut=5", "column 5: cut takes no value"), ("latency=5", "here it is \"5\""),
            ("latency=9ms..1ms", "column 9"), ("latency=lognormal:5ms:x", "column 9"),
            ("latency=lognormal:5ms:nan", "column 9"), ("latency", "here it is without a value"),
            ("silence per=connection", "column 13: silence cannot strike per connection"),
            ("hang-up=tcp per=request", "column 17"), ("settings", "settings changes nothing"),
            ("settings streams=1001", "column 18"), ("cut from=5s to=5s", "column 16"),
            ("cut per=connection token=ab", "a connection has no device token"),
            ("silence token=xy", "column 15"), ("token-rate=0", "column 12"),
            ("reset=NOPE", "column 7: reset takes an HTTP/2 error code"),
            ("goaway=now reason=A text=b", "reason and text exclude each other"),
            ("status=200 reason=a\"b", "column 19"), ("latency=99999999999999999h", "column 9"),
        ])
    func mistakes(spec: String, message: String) {
        var plan = FaultPlan()
        let error = #expect(throws: MockError.self) { try plan.add(spec: spec) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test(
        "a mistake in a file is named with its line and column",
        arguments: [
            ("[\n  { satus: 503 },\n]", "f.json5:2:5: \"satus\" is no fault"),
            ("[\n  { status: 5 },\n]", "f.json5:2:13: status takes"),
            ("[\n  { status: [] },\n]", "f.json5:2:13: status takes a number, a text or true"),
            ("{}", "f.json5:1:1: the faults stand in a list"),
            ("[\n 5]", "f.json5:2:2: a fault is an object"), ("[", "f.json5:1:"),
            ("[{}]", "f.json5:1:2: nothing says what to do"),
            (
                "[" + String(repeating: "{cut:true},", count: 65) + "]",
                "more than 64 faults"
            ),
        ])
    func mistakesInFiles(text: String, message: String) {
        var plan = FaultPlan()
        let error = #expect(throws: MockError.self) {
            try plan.add(file: Array(text.utf8), name: "f.json5")
        }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test("log-normal delays have the median and the spread that were asked for")
    func logNormal() {
        var random = FaultRandom(seed: 7, worker: 0, rule: 0)
        let delays = (0..<20_001).map { _ in
            random.nanoseconds(.logNormal(medianNs: 20_000_000, sigma: 0.5))
        }.sorted()
        // The normal distribution's 84.13th percentile is one standard deviation above its median.
        #expect(abs(Double(delays[10_000]) / 20e6 - 1) < 0.03)
        #expect(abs(Double(delays[16_827]) / (20e6 * 1.648_72) - 1) < 0.05)
    }

    @Test("a rate lets a second's worth through at once, then one per interval")
    func rates() {
        let table = RateTable(perSecond: 4, placeCount: 8)
        let second: UInt64 = 1_000_000_000
        let start = 100 * second
        #expect(
            (0..<6).map { _ in table.isTooMuch(1, nowNs: start) } == [
                false, false, false, false, true, true,
            ])
        #expect(!table.isTooMuch(2, nowNs: start))
        #expect(!table.isTooMuch(1, nowNs: start + second / 4))
        #expect(table.isTooMuch(1, nowNs: start + second / 4))
        #expect(
            (0..<5).map { _ in table.isTooMuch(1, nowNs: start + 10 * second) } == [
                false, false, false, false, true,
            ])
    }
}
