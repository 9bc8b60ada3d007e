import Testing

@testable import Load

struct ShortfallTests {
    private func evidence(_ change: (inout Shortfall.Evidence) -> Void) -> Shortfall.Evidence {
        var evidence = Shortfall.Evidence()
        evidence.missing = 1000
        change(&evidence)
        return evidence
    }

    @Test(arguments: [
        (Obstacle.streams, Shortfall.streams), (.window, .window), (.socket, .socket),
        (.connection, .connection),
    ])
    func whatWasInTheWayLongestIsNamed(obstacle: Obstacle, expected: Shortfall) {
        let evidence = evidence {
            $0.blockedSeconds = [0.1, 0.1, 0.1, 0.1]
            $0.blockedSeconds[obstacle.rawValue] = 3
        }
        #expect(Shortfall(evidence) == expected)
    }

    @Test func failuresThatAccountForHalfOfWhatIsMissingAreTheReason() {
        #expect(Shortfall(evidence { $0.failed = 500 }) == .serverErrors)
        #expect(
            Shortfall(
                evidence {
                    $0.failed = 499
                    $0.blockedSeconds[0] = 1
                }) == .streams)
        #expect(
            Shortfall(
                evidence {
                    $0.failed = 600
                    $0.unanswered = 400
                }) == .noAnswers)
    }

    @Test func aThreadThatHasNoTimeOrGetsNoneIsTheReason() {
        #expect(
            Shortfall(
                evidence {
                    $0.threadBusyShare = 0.95
                    $0.blockedSeconds[0] = 5
                }) == .processor)
        #expect(
            Shortfall(
                evidence {
                    $0.threadWaitShare = 0.3
                    $0.blockedSeconds[0] = 5
                }) == .processor)
        // Nothing in the way, and still late.
        #expect(Shortfall(evidence { _ in }) == .processor)
    }
}
