import APNS
import Foundation
import Report
import Sending
import Testing

struct SummaryTextTests {
    private func summary(completed: Bool = true) -> RunSummary {
        var summary = RunSummary(name: "spring-sale", runDirectory: "runs/spring-sale/T")
        summary.rows = 12_000
        summary.seconds = 72
        summary.completed = completed
        summary.attempts = 11_990
        summary.connections.opened = 1
        summary.bytesSent = 2048
        return summary
    }

    @Test func completedRunTellsItsRowsAndItsFolder() {
        var summary = summary()
        summary.outcomes = [(.accepted, 11_900), (.unregistered, 90), (.invalid, 10)]
        summary.reasons = [(.unregistered, 90), (.badTokenForm, 10)]
        let text = SummaryText.render(summary)
        #expect(text.hasPrefix("spring-sale: completed, 12,000 rows in 1 min 12 s\n"))
        #expect(text.contains("\n  11,900   99.2 %  accepted by APNs\n"))
        #expect(text.contains("\n      90    0.8 %  no longer registered\n"))
        #expect(text.contains("\n  90  Unregistered (410)\n"))
        #expect(text.contains("\n  10  BadTokenForm\n      \(FinalCode.badTokenForm.advice)\n"))
        #expect(text.contains("Run folder: runs/spring-sale/T\n"))
        #expect(text.contains("unregistered.csv"))
    }

    @Test func nothingIsEverCalledDelivered() {
        var summary = summary()
        summary.outcomes = Outcome.allCases.map { ($0, 1) }
        #expect(!SummaryText.render(summary).contains("delivered"))
    }

    @Test func stoppedRunSaysWhyAndWhatIsLeft() {
        var summary = summary(completed: false)
        summary.outcomes = [(.accepted, 2000)]
        summary.inDoubt = 30
        summary.stoppedBecause = "the server 127.0.0.1:2197 cannot be reached"
        let text = SummaryText.render(summary)
        #expect(text.hasPrefix("spring-sale: STOPPED after 1 min 12 s, 12,000 rows read\n"))
        #expect(text.contains("Because: the server 127.0.0.1:2197 cannot be reached\n"))
        #expect(text.contains("\n     30    0.3 %  sent, the answer did not come\n"))
        #expect(text.contains("\n  9,970   83.1 %  not sent yet\n"))
    }

    @Test func onlyAStoppedRunIsToGoOn() {
        let command = "peal send sale --resume --run-dir runs/sale/1"
        let stopped = SummaryText.render(summary(completed: false), resumeCommand: command)
        #expect(stopped.hasSuffix("\n\nTo go on where it stopped:\n  \(command)\n"))
        let completed = SummaryText.render(summary(completed: true), resumeCommand: command)
        #expect(!completed.contains("--resume"))
    }

    @Test func whatWentWellAsksForNothing() {
        var summary = summary()
        summary.outcomes = [(.accepted, 12_000)]
        summary.reasons = [(.accepted, 12_000)]
        let text = SummaryText.render(summary)
        #expect(text.contains("  12,000    100 %  accepted by APNs\n"))
        #expect(!text.contains("Why:"))
        #expect(!text.contains("Next"))
    }

    @Test func reasonsAreListedByTheirCount() throws {
        var summary = summary()
        summary.reasons = [(.badTopic, 3), (.unregistered, 20), (.payloadTooLarge, 3)]
        let text = SummaryText.render(summary)
        let places = try ["Unregistered", "BadTopic", "PayloadTooLarge"].map {
            try #require(text.range(of: $0)).lowerBound
        }
        #expect(places == places.sorted())
    }

    @Test func emptyFileIsNamed() {
        var summary = summary()
        summary.rows = 0
        #expect(SummaryText.render(summary).contains("no rows"))
    }
}
