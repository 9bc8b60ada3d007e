import Report
import Testing

@testable import Check

@Suite struct CheckFindingsTests {
    private func ids(
        _ changes: [String: String?] = [:], recipients: String? = nil
    ) throws -> [String] {
        try CheckRig(changes, recipients: recipients).ids
    }

    private func rows(_ lines: [String]) -> String {
        "token,locale,name\n" + lines.joined(separator: "\n") + "\n"
    }

    @Test func nothingIsFoundInAnOrdinaryCampaign() throws {
        #expect(try ids() == [])
    }

    @Test func aFileWithoutRowsIsFound() throws {
        #expect(try ids(recipients: "token,locale,name\n") == ["noRows"])
    }

    @Test func invalidRowsAreFoundWhenTheyAreManyOrAll() throws {
        #expect(try ids(recipients: rows(["x,de,A", "y,de,B"])) == ["noValidRows"])
        let good = (1...98).map { "\(CheckRig.token($0)),de,Ann" }
        #expect(try ids(recipients: rows(good + ["x,de,A"])) == ["manyInvalidRows"])
        let more = (1...100).map { "\(CheckRig.token($0)),de,Ann" }
        #expect(try ids(recipients: rows(more + ["x,de,A"])) == [])
    }

    /// B75: APNs throttles many pushes for one device token.
    @Test func aTokenOfManyRowsIsFound() throws {
        let good = (1...100).map { "\(CheckRig.token($0)),de,Ann" }
        let same = Array(repeating: "\(CheckRig.token(500)),de,Ann", count: 10)
        #expect(try ids(recipients: rows(good + same)) == ["tokenRepeatedOften"])
        #expect(try ids(recipients: rows(good + same.dropLast())) == [])
        let sent = try CheckRig(["duplicates": "'send'"], recipients: rows(good + same))
        #expect(sent.ids == ["tokenRepeatedOften"])
        #expect(sent.findings[0].remedy.contains("duplicates: \"skip\""))
        #expect(
            try ids(["duplicates": "'send'"], recipients: rows(good + same.prefix(2)))
                == ["duplicatesAreSent"])
    }

    /// B93: no expiration is not 0, and 0 is seldom meant.
    @Test func expirationsThatMayNotBeMeantAreFound() throws {
        #expect(try ids(["expiration": "0"]) == ["expirationZero"])
        #expect(
            try ids([
                "expiration": "0", "pushType": "'voip'", "topic": "'com.example.app.voip'",
            ]) == [])
        #expect(try ids(["expiration": "'2026-11-30T23:59:59Z'"]) == ["expirationPassed"])
        #expect(try ids(["expiration": "'2026-12-01T00:00:01Z'"]) == [])
        #expect(try ids(["expiration": "'31d'"]) == ["expirationBeyondStorage"])
        #expect(try ids(["expiration": "'30d'"]) == [])
    }

    @Test func aMissingExpirationIsFound() throws {
        #expect(try ids(["expiration": nil]) == ["noExpiration"])
    }

    @Test func backgroundPushesAreRememberedToBeFew() throws {
        let payload = "{ aps: { 'content-available': 1 } }"
        #expect(
            try ids(["pushType": "'background'", "payload": payload])
                == ["backgroundIsThrottled"])
    }

    @Test func sendingLongerThanTheExpirationIsFound() throws {
        var rig = try CheckRig(["expiration": "'10s'"])
        rig.pace = SendForecast.Pace(mode: "adaptive", rate: 2, connectionRate: 0, connections: 4)
        #expect(rig.ids == ["expiresWhileSending"])  // 30 rows at 2 per second: 15 s
        rig.pace = SendForecast.Pace(mode: "adaptive", rate: 3, connectionRate: 0, connections: 4)
        #expect(rig.ids == [])
    }

    @Test func aPayloadWithinATenthOfTheLimitIsFound() throws {
        // {"aps":{"alert":"Hi …"}} has 23 bytes beside the name.
        let name = { String(repeating: "n", count: $0) }
        let near = rows(["\(CheckRig.token(1)),de,\(name(3_687 - 23))"])
        let rig = try CheckRig(recipients: near)
        #expect(rig.ids == ["payloadNearLimit"])
        #expect(rig.findings[0].message.contains("3,687 of 4,096 bytes (row 1)"))
        #expect(try ids(recipients: rows(["\(CheckRig.token(1)),de,\(name(3_686 - 23))"])) == [])
    }

    @Test func columnsThatAreOftenEmptyAreFound() throws {
        let lines = (1...10).map { "\(CheckRig.token($0)),de,\($0 <= 2 ? "" : "Ann")" }
        #expect(try ids(recipients: rows(lines)) == ["placeholderOftenEmpty"])
        #expect(
            try ids(["payload": "{ aps: { alert: '{{name}}' } }"], recipients: rows(lines))
                == ["manyInvalidRows", "placeholderOftenMissing"])
    }

    @Test func localesWithoutAPayloadAndPayloadsWithoutALocaleAreFound() throws {
        let payloads = "{ ru: { aps: { alert: 'x' } }, de: { aps: { alert: 'y' } } }"
        #expect(try ids(["payloads": payloads]) == ["payloadUnused"])
        let lines = ["de", "ru", "uk"].enumerated().map {
            "\(CheckRig.token($0.offset)),\($0.element),Ann"
        }
        let rig = try CheckRig(["payloads": payloads], recipients: rows(lines))
        #expect(rig.ids == ["localeWithoutPayload"])
        #expect(rig.findings[0].message.contains("(uk)"))
    }

    @Test func collapseIDsPrioritiesAndPacesAreLookedAt() throws {
        #expect(try ids(["collapseID": "'o-{{name|x}}'"]) == ["collapseIDVaries"])
        #expect(try ids(["collapseID": "'sale'"]) == [])
        #expect(try ids(["priority": "5"]) == ["alertPriority"])
        #expect(try ids(["credentials": "'development'"]) == ["developmentCredentials"])
        var rig = try CheckRig()
        rig.pace = SendForecast.Pace(
            mode: "gentle", rate: 5_000, connectionRate: 100, connections: 4)
        #expect(rig.ids == ["rateOutOfReach"])
        rig.pace = SendForecast.Pace(mode: "unlimited", rate: 0, connectionRate: 0, connections: 4)
        #expect(rig.ids == ["paceUnlimited"])
    }

    @Test func aLargeFileForTheSandboxIsFound() throws {
        let lines = (1...10_000).map { "\(CheckRig.token($0)),de,Ann" }
        #expect(
            try ids(["environment": "'sandbox'"], recipients: rows(lines)) == ["manySandboxRows"])
        #expect(try ids(["environment": "'sandbox'"]) == [])
    }
}
