import Testing

@testable import Campaign

@Suite struct StopWhenTests {
    @Test func absentRulesAreThoseOfTheManual() throws {
        let standard = try CampaignFixture().load().stopWhen
        #expect(standard.badDeviceToken == StopWhen.Share(percent: 50, answers: 1000))
        #expect(standard.failures == StopWhen.Share(percent: 80, answers: 1000))
        #expect(standard.deadline == nil)
        #expect(try CampaignFixture(["stopWhen": "{}"]).load().stopWhen == standard)
    }

    @Test func eachRuleIsReadAsItIsWritten() throws {
        let text = """
            {badDeviceToken: '25% of the first 200', failures: '100% of the last 1',
             deadline: '2026-03-14T21:00:00+02:00'}
            """
        let rules = try CampaignFixture(["stopWhen": text]).load().stopWhen
        #expect(rules.badDeviceToken == StopWhen.Share(percent: 25, answers: 200))
        #expect(rules.failures == StopWhen.Share(percent: 100, answers: 1))
        // date -u -d 2026-03-14T19:00:00Z +%s
        #expect(rules.deadline == 1_773_514_800)
    }

    @Test func neverSwitchesARuleOff() throws {
        let text = "{badDeviceToken: 'never', failures: 'never', deadline: 'never'}"
        let rules = try CampaignFixture(["stopWhen": text]).load().stopWhen
        #expect(rules == StopWhen(badDeviceToken: nil, failures: nil, deadline: nil))
    }

    @Test(arguments: [
        ("{badDeviceToken: '50%'}", "write \"50% of the first 1000\""),
        ("{badDeviceToken: '50% of the last 1000'}", "write \"50% of the first 1000\""),
        ("{failures: '80% of the first 1000'}", "write \"80% of the last 1000\""),
        ("{failures: '80 % of the last 1000'}", "no such share"),
        ("{failures: '-1% of the last 1000'}", "no such share"),
        ("{failures: '80% of the last 1000 '}", "no such share"),
        ("{failures: '% of the last 1000'}", "no such share"),
        ("{failures: '0% of the last 1000'}", "write 1% to 100%"),
        ("{failures: '101% of the last 1000'}", "write 1% to 100%"),
        ("{failures: '80% of the last 0'}", "write 1 to 1000 answers"),
        ("{failures: '80% of the last 1001'}", "write 1 to 1000 answers"),
        ("{badDeviceToken: '50% of the first 99'}", "write 100 to 1000 answers"),
        ("{failures: 80}", "in quotes"), ("{failures: 'nevr'}", "or \"never\""),
        ("{deadline: 'tomorrow'}", "no instant"), ("{deadline: '2026-02-30T00:00:00Z'}", "instant"),
        ("{failure: 'never'}", "did you mean \"failures\"?"), ("[]", "write an object"),
    ])
    func wrongRulesAreRefusedWithPlaceAndRemedy(_ value: String, _ part: String) throws {
        let fixture = CampaignFixture(["stopWhen": value])
        let error = try #require(fixture.refusal())
        #expect(error.description.contains(part), "\(error)")
        let lines = fixture.text.split(separator: "\n")
        #expect(lines[error.line - 1].contains("stopWhen"))
        #expect(error.column > 1)
    }

    @Test func theSecondPassIsADuration() throws {
        let fixture = CampaignFixture(["retry": "{secondPass: '15m'}"])
        #expect(try fixture.load().retry.secondPassMs == 900_000)
        #expect(try CampaignFixture().load().retry.secondPassMs == nil)
    }
}
