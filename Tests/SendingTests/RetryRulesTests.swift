import Testing

@testable import Sending

/// The table of retry rules, without a server. Expected waits are those of the manual.
@Suite struct RetryRulesTests {
    private let second: UInt64 = 1_000_000_000
    private let minute: UInt64 = 60_000_000_000

    private func rules(attempts: Int = 3, secondPass: UInt64? = nil) -> RetryRules {
        RetryRules(
            attempts: attempts, serverErrorDelaySeconds: 1...5, secondPassNs: secondPass)
    }

    private func row(
        _ pass: RetryRules.Pass = .first, attempts: Int = 1, tooMany: Int = 0, inDoubt: Bool = false
    ) -> RetryRules.Row {
        RetryRules.Row(
            pass: pass, attempts: attempts, tooManyRequests: tooMany, isInDoubt: inDoubt)
    }

    private func decide(
        _ failure: RetryRules.Failure, _ row: RetryRules.Row, after seconds: Int = -1,
        random: Double = 1, rules: RetryRules? = nil
    ) -> RetryRules.Decision {
        (rules ?? self.rules()).decide(
            failure, of: row, retryAfterSeconds: seconds, random: random)
    }

    /// B72, B75: eight attempts in all, with full jitter: 0 to 1, 2 and 4 s, then minutes.
    @Test func tooManyRequestsWaitsLongerEachTime() {
        for (answers, boundSeconds) in [(1, UInt64(1)), (2, 2), (3, 4)] {
            let row = row(attempts: answers, tooMany: answers)
            #expect(decide(.tooManyRequests, row) == .wait(ns: boundSeconds * second))
            #expect(decide(.tooManyRequests, row, random: 0) == .wait(ns: 0))
            #expect(
                decide(.tooManyRequests, row, random: 0.25) == .wait(ns: boundSeconds * second / 4))
        }
        #expect(
            decide(.tooManyRequests, row(attempts: 4, tooMany: 4)) == .later(.later1, ns: minute))
        let passes: [(RetryRules.Pass, RetryRules.Pass, UInt64)] = [
            (.later1, .later2, 2), (.later2, .later3, 4), (.later3, .later4, 8),
        ]
        for (pass, next, minutes) in passes {
            #expect(
                decide(.tooManyRequests, row(pass, tooMany: 1))
                    == .later(next, ns: minutes * minute))
        }
        #expect(decide(.tooManyRequests, row(.later4, tooMany: 1)) == .exhausted)
    }

    @Test func tooManyRequestsHasNothingToDoWithTheAttemptsOfTheManifest() {
        let row = row(attempts: 3, tooMany: 3)
        #expect(decide(.tooManyRequests, row, rules: rules(attempts: 1)) == .wait(ns: 4 * second))
        // One server error after two 429: the first of its kind.
        #expect(
            decide(.serverError, self.row(attempts: 3, tooMany: 2), rules: rules(attempts: 2))
                == .wait(ns: 5 * second))
    }

    @Test func aServerErrorWaitsOneToFiveSecondsAndHasThreeAttempts() {
        for attempts in 1...2 {
            #expect(decide(.serverError, row(attempts: attempts)) == .wait(ns: 5 * second))
            #expect(
                decide(.serverError, row(attempts: attempts), random: 0) == .wait(ns: second))
        }
        #expect(decide(.serverError, row(attempts: 3)) == .exhausted)
    }

    @Test func theSecondPassComesOnce() {
        let rules = rules(secondPass: 15 * minute)
        #expect(
            decide(.serverError, row(attempts: 3), rules: rules) == .later(.second, ns: 15 * minute)
        )
        #expect(
            decide(.serverError, row(.second, attempts: 1), rules: rules) == .wait(ns: 5 * second))
        #expect(decide(.serverError, row(.second, attempts: 3), rules: rules) == .exhausted)
        // It is the last of all passes, or two kinds of failures could pass a row to and fro.
        #expect(
            decide(.tooManyRequests, row(.second, attempts: 4, tooMany: 4), rules: rules)
                == .exhausted)
        #expect(
            decide(.serverError, row(.later4, attempts: 3), rules: rules)
                == .later(.second, ns: 15 * minute))
    }

    /// B72
    @Test(arguments: [RetryRules.Failure.tooManyRequests, .serverError])
    func retryAfterIsHonoured(_ failure: RetryRules.Failure) {
        let first = row(tooMany: failure == .tooManyRequests ? 1 : 0)
        #expect(decide(failure, first, after: 20) == .wait(ns: 20 * second))
        #expect(decide(failure, first, after: 30, random: 0) == .wait(ns: 30 * second))
        #expect(decide(failure, first, after: 31) == .later(.later1, ns: minute))
        #expect(decide(failure, first, after: 600) == .later(.later1, ns: 10 * minute))
        // Nobody may ask for days.
        #expect(decide(failure, first, after: 86_400) == .later(.later1, ns: 60 * minute))
        #expect(decide(failure, first, after: .max) == .later(.later1, ns: 60 * minute))
        #expect(decide(failure, first, after: 0) != .exhausted)
        // The last pass has nowhere to go.
        let last = row(.later4, tooMany: failure == .tooManyRequests ? 1 : 0)
        #expect(decide(failure, last, after: 31) == .exhausted)
    }

    @Test func retryAfterMovesTheSecondPassToo() {
        let rules = rules(secondPass: minute)
        #expect(
            decide(.serverError, row(attempts: 3), after: 120, rules: rules)
                == .later(.second, ns: 2 * minute))
    }

    @Test func waitsOfMoreThanThirtySecondsHoldNoSlot() {
        let failures: [RetryRules.Failure] = [.tooManyRequests, .serverError, .noAnswer]
        for failure in failures {
            for attempts in 1...8 {
                for asked in [-1, 0, 29, 30, 31, 3600] {
                    let row = row(
                        attempts: attempts, tooMany: failure == .tooManyRequests ? attempts : 0)
                    if case .wait(let ns) = decide(failure, row, after: asked) {
                        #expect(ns <= 30 * second)
                    }
                }
            }
        }
    }

    /// B71: whatever fails in whatever order, a row ends.
    @Test func noOrderOfFailuresGoesOnForEver() {
        let rules = rules(secondPass: minute)
        let failures: [(RetryRules.Failure, Int)] = [
            (.tooManyRequests, -1), (.serverError, -1), (.noAnswer, -1), (.serverError, 300),
            (.tooManyRequests, 300),
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var current = row(attempts: 0)
            var attempts = 0
            while attempts < 100 {
                attempts += 1
                guard let (failure, asked) = failures.randomElement(using: &generator) else {
                    break
                }
                current.attempts += 1
                if failure == .tooManyRequests { current.tooManyRequests += 1 }
                if failure == .noAnswer { current.isInDoubt = true }
                let decision = decide(failure, current, after: asked, rules: rules)
                if decision == .exhausted { break }
                if case .later(let pass, _) = decision {
                    current = row(pass, attempts: 0, inDoubt: current.isInDoubt)
                }
            }
            #expect(attempts < 50)
        }
    }

    /// A byte that says "not accepted" would be a lie for a row that may have been.
    @Test func aRowInDoubtWaitsInDoubtAndOnce() {
        #expect(
            decide(.tooManyRequests, row(attempts: 5, tooMany: 4, inDoubt: true))
                == .later(.inDoubt, ns: minute))
        let rules = rules(secondPass: minute)
        #expect(
            decide(.serverError, row(attempts: 3, inDoubt: true), rules: rules)
                == .later(.inDoubt, ns: minute))
        #expect(
            decide(.serverError, row(.inDoubt, attempts: 3, inDoubt: true), rules: rules)
                == .exhausted)
        #expect(
            decide(
                .tooManyRequests, row(.inDoubt, attempts: 4, tooMany: 4, inDoubt: true),
                rules: rules) == .exhausted)
    }

    @Test func nothingWaitsForAnInputThatCannotBeReadAgain() {
        var rules = rules(secondPass: minute)
        rules.hasLaterPasses = false
        #expect(
            decide(.tooManyRequests, row(attempts: 4, tooMany: 4), rules: rules) == .exhausted)
        #expect(decide(.serverError, row(attempts: 3), rules: rules) == .exhausted)
        #expect(decide(.serverError, row(), after: 60, rules: rules) == .exhausted)
    }

    @Test func attemptsOfEarlierPassesCount() {
        let rules = rules(attempts: 2)
        let before = RetryRules.Pass.allCases.map { rules.attemptsBefore($0) }
        #expect(before == [0, 0, 2, 4, 5, 6, 7])
    }
}

@Suite struct RetryBudgetTests {
    /// B71: below a tenth of the sends plus ten a second, whatever comes in which order.
    @Test(arguments: [1, 4]) func retriesStayWithinTheBudget(workers: Int) {
        var nowNs: UInt64 = 0
        var budgets = (0..<workers).map { _ in
            RetryBudget(workers: workers, most: 1000, nowNs: nowNs)
        }
        var (sends, retries) = (0, 0)
        for step in 0..<100_000 {
            nowNs += 100_000  // 10 s in all
            let worker = step % workers
            if step < 50_000 {
                budgets[worker].countSend()
                sends += 1
            }
            for _ in 0..<3 where budgets[worker].take(nowNs: nowNs) { retries += 1 }
            let bound = Double(sends) / 10 + Double(nowNs) / 1e8 + 10
            #expect(Double(retries) <= bound + 0.001)
        }
        // It is a limit and no ban: 5,000 for the sends, 100 for the time.
        #expect(retries >= 5090)
    }

    @Test func whatIsSavedUpHasALimit() {
        var budget = RetryBudget(workers: 1, most: 50, nowNs: 0)
        for _ in 0..<10_000 { budget.countSend() }
        let retries = (0..<1000).count { _ in budget.take(nowNs: 0) }
        #expect(retries == 50)
    }

    @Test func atTheEndAcceptedRetriesPayForMore() {
        var budget = RetryBudget(workers: 1, most: 1000, nowNs: 0)
        while budget.take(nowNs: 0) {}
        var left = 1000
        var nowNs: UInt64 = 0
        while left > 0 {
            nowNs += 100_000_000
            var accepted = 0
            while left > 0, budget.take(nowNs: nowNs) {
                accepted += 1
                left -= 1
            }
            for _ in 0..<accepted { budget.countAcceptedRetryAtEnd() }
        }
        #expect(nowNs < 2_000_000_000)
    }
}

@Suite struct LaterPassesTests {
    private func counts(_ rows: [RetryRules.Pass: UInt64]) -> [UInt64] {
        var counts = [UInt64](repeating: 0, count: 256)
        for (pass, count) in rows { counts[Int(pass.rawValue)] = count }
        return counts
    }

    @Test func nobodyIsSentTooEarly() {
        var passes = LaterPasses()
        passes.note(.later1, dueNs: 100)
        passes.note(.later1, dueNs: 300)
        passes.note(.later1, dueNs: 200)
        let next = passes.next(counts([.later1: 3]), nowNs: 50)
        #expect(next == LaterPasses.Next(mask: 1 << 5, dueNs: 300, rows: 3))
    }

    @Test func theFirstThatIsDueComesFirst() {
        var passes = LaterPasses()
        passes.note(.second, dueNs: 900)
        passes.note(.later1, dueNs: 60)
        passes.note(.later2, dueNs: 120)
        let all = counts([.second: 1, .later1: 2, .later2: 4])
        #expect(passes.next(all, nowNs: 0) == LaterPasses.Next(mask: 1 << 5, dueNs: 60, rows: 2))
        // Those that are due by now are read together.
        #expect(
            passes.next(all, nowNs: 130)
                == LaterPasses.Next(mask: 1 << 5 | 1 << 6, dueNs: 60, rows: 6))
        #expect(passes.next(counts([:]), nowNs: 0) == nil)
    }

    @Test func ofAnEarlierStartTheyAreDueAtOnce() {
        let next = LaterPasses().next(counts([.later4: 7]), nowNs: 5)
        #expect(next == LaterPasses.Next(mask: 1 << 8, dueNs: 0, rows: 7))
    }

    @Test func aPassThatBeginsForgetsItsTime() {
        var passes = LaterPasses()
        passes.note(.later1, dueNs: 100)
        passes.begin(1 << 5)
        passes.note(.later1, dueNs: 40)
        #expect(passes.next(counts([.later1: 1]), nowNs: 0)?.dueNs == 40)
    }
}
