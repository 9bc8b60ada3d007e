import Campaign
import TestSupport
import Testing

@testable import Sending

/// The shares that stop a run, without a server.
@Suite struct StopRulesTests {
    private func rules(first: Int? = nil, last: Int? = nil, answers: Int = 1000) -> StopRules {
        StopRules(
            StopWhen(
                badDeviceToken: first.map { .init(percent: $0, answers: answers) },
                failures: last.map { .init(percent: $0, answers: answers) }, deadline: nil))
    }

    /// B82
    @Test func halfOfAHundredBadTokensFire() {
        var rules = rules(first: 50)
        for _ in 0..<49 { _ = rules.failed(.wrongEnvironment) }
        rules.accepted(50)
        #expect(rules.fired == nil)
        _ = rules.failed(.wrongTopic)
        #expect(rules.fired == .badDeviceToken)
        #expect(rules.firstAnswers == 100)
        #expect(rules.wrongEnvironments == 49)
        #expect(rules.wrongTopics == 1)
    }

    @Test func fewerThanAHundredAnswersNeverFire() {
        var rules = rules(first: 1)
        for _ in 0..<99 { _ = rules.failed(.wrongEnvironment) }
        #expect(rules.fired == nil)
        rules.accepted(1)
        #expect(rules.fired == .badDeviceToken)
    }

    @Test func afterTheFirstAnswersBadTokensAreFinal() {
        var rules = rules(first: 50)
        rules.accepted(1)
        for _ in 0..<998 { _ = rules.failed(.gone) }
        #expect(rules.watchesFirst)
        _ = rules.failed(.wrongEnvironment)
        #expect(!rules.watchesFirst)
        for _ in 0..<5000 { _ = rules.failed(.wrongEnvironment) }
        #expect(rules.fired == nil)
    }

    /// B73: 410 is the service at work, and counts neither way.
    @Test func theFailureShareNeedsAFullWindowAndLeavesGoneOut() {
        var rules = rules(last: 80, answers: 10)
        for _ in 0..<100 { _ = rules.failed(.gone) }
        rules.accepted(2)
        for _ in 0..<7 { _ = rules.failed(.other) }
        #expect(rules.fired == nil)
        _ = rules.failed(.wrongTopic)
        #expect(rules.fired == .failures)
        #expect(rules.failuresInWindow == 8)
    }

    @Test func oldFailuresLeaveTheWindow() {
        var rules = rules(last: 80, answers: 10)
        for _ in 0..<20 {
            for _ in 0..<7 { _ = rules.failed(.other) }
            rules.accepted(3)
        }
        #expect(rules.fired == nil)
        #expect(rules.failuresInWindow == 7)
    }

    /// A row may be final when it has left the window: exactly then its answer counts no more.
    @Test func aRowIsHeldAsLongAsItsAnswerCounts() {
        var rules = rules(last: 100, answers: 10)
        rules.accepted(25)
        let until = rules.failed(.other)
        #expect(until == 36)
        rules.accepted(9)
        #expect(rules.failuresInWindow == 1)
        #expect(rules.answers < until)
        rules.accepted(1)
        #expect(rules.failuresInWindow == 0)
        #expect(rules.answers == until)
    }

    /// The ring against a plain list.
    @Test func theWindowIsThatOfTheLastAnswers() {
        var random = SeededGenerator()
        var rules = rules(last: 70, answers: 50)
        var list: [Bool] = []
        while rules.fired == nil, list.count < 100_000 {
            if Int.random(in: 0..<100, using: &random) < 45 {
                let count = Int.random(in: 1...3, using: &random)
                rules.accepted(count)
                list += [Bool](repeating: false, count: count)
            } else {
                _ = rules.failed(.other)
                list.append(true)
            }
            let failures = list.suffix(50).count { $0 }
            #expect(rules.failuresInWindow == failures, "seed \(testSeed)")
            let fires = list.count >= 50 && list.last == true && failures >= 35
            #expect((rules.fired != nil) == fires, "seed \(testSeed)")
        }
    }

    @Test func aRuleThatIsSwitchedOffNeverFires() {
        var rules = rules()
        for _ in 0..<5000 {
            let until = rules.failed(.wrongEnvironment)
            #expect(until == 0)
        }
        #expect(rules.fired == nil)
        #expect(!rules.watchesFirst)
    }

    @Test func fiveConfigurationAnswersInARowFireAndA200ClearsThem() {
        var answers = ConfigurationAnswers()
        for _ in 0..<3 {
            for _ in 0..<4 {
                let fires = answers.count()
                #expect(!fires)
            }
            answers.clear()
        }
        #expect(answers.clearings == 3)
        answers.clear()
        #expect(answers.clearings == 3)
        let fires = (0..<5).map { _ in answers.count() }
        #expect(fires == [false, false, false, false, true])
    }
}
