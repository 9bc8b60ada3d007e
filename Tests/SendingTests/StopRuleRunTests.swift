import APNS
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Sending

/// Campaigns that can only do harm, stopped by their answers.
@Suite(.timeLimit(.minutes(5))) struct StopRuleRunTests {
    /// B82: tokens of the other environment stop the run, none is pruned, and a resume sends all.
    @Test(arguments: [1, 2]) func badTokensOfAWholeFileStopTheRun(threads: Int) throws {
        let isCorrected = Atomic(false)
        let server = try ScriptedServer { _ in
            isCorrected.load(ordering: .relaxed) ? .accept : .refuse(400, "BadDeviceToken")
        }
        var rig = SendingRig(server, rows: 5000)
        rig.options.threads = threads
        rig.options.connections = threads
        rig.options.streams = 50
        rig.manifest["environment"] = "'sandbox'"
        let stopped = try rig.send()
        #expect(stopped.summary.exitStatus == 3)
        let message = try #require(stopped.summary.stoppedBecause)
        for part in ["100 BadDeviceToken", "environment (now \"sandbox\")", "--resume"] {
            #expect(message.contains(part), "\(message)")
        }
        let requests = server.log.requests.count
        #expect(requests <= 100 + threads * 50)
        #expect(stopped.rows(with: OpenState.handedBack) == requests)
        #expect(stopped.rows(with: OpenState.untouched) == 5000 - requests)
        #expect(stopped.unregistered == ["token,row,reason,invalid_since"])
        #expect(stopped.failureLineCount == 0)

        isCorrected.store(true, ordering: .relaxed)
        rig.options.resumes = true
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 5000)
    }

    @Test func tokensOfAnotherAppNameTheTopic() throws {
        let server = try ScriptedServer { request in
            request.row % 3 == 0 ? .accept : .refuse(400, "DeviceTokenNotForTopic")
        }
        let stopped = try SendingRig(server, rows: 3000).send()
        #expect(stopped.summary.exitStatus == 3)
        #expect(stopped.summary.stoppedBecause?.contains("topic (now \"com.example.app\")") == true)
        #expect(stopped.count(.rejected) == 0)
        // What was accepted is so for good, and is not sent again.
        #expect(Int(stopped.count(.accepted)) == server.log.accepted.count)
    }

    /// B73: a third of dead tokens is no reason to stop; each becomes final in the end.
    @Test(arguments: [1, 2]) func aShareBelowTheRuleChangesNothing(threads: Int) throws {
        let server = try ScriptedServer { request in
            switch request.row % 10 {
            case 0, 1, 2: .refuse(400, "BadDeviceToken")
            case 3: .refuse(410, "Unregistered", timestampMs: 1_767_323_045_006)
            case 4: .refuse(413, "PayloadTooLarge")
            default: .accept
            }
        }
        var rig = SendingRig(server, rows: 5000)
        rig.options.threads = threads
        rig.options.connections = threads
        let sent = try rig.send()
        #expect(sent.summary.completed, "\(sent.summary.stoppedBecause ?? "")")
        #expect(sent.count(.unregistered) == 2000)
        #expect(sent.count(.rejected) == 500)
        #expect(sent.count(.accepted) == 2500)
        #expect(server.log.requests.count == 5000)
        #expect(sent.unregistered.count == 2001)
    }

    /// The first rows are accepted, then hardly any: what was known before stays.
    @Test(arguments: [1, 2]) func aFailureShareStopsTheRun(threads: Int) throws {
        let requests = Atomic(0)
        let server = try ScriptedServer { request in
            let count = requests.add(1, ordering: .relaxed).newValue
            if count <= 1000 || request.row % 10 == 0 { return .accept }
            return request.row % 10 == 1
                ? .refuse(410, "Unregistered") : .refuse(413, "PayloadTooLarge")
        }
        var rig = SendingRig(server, rows: 6000)
        rig.options.threads = threads
        rig.options.connections = threads
        rig.options.streams = 20
        rig.manifest["stopWhen"] = "{failures: '80% of the last 200'}"
        let stopped = try rig.send()
        #expect(stopped.summary.exitStatus == 3)
        let message = try #require(stopped.summary.stoppedBecause)
        #expect(message.contains("stopWhen.failures"), "\(message)")
        #expect(message.contains("413 PayloadTooLarge"), "\(message)")
        #expect(stopped.count(.rejected) == 0)
        #expect(stopped.count(.accepted) >= 1000)
        #expect(stopped.rows(with: OpenState.handedBack) >= 160)
        #expect(server.log.requests.count < 2500)

        rig.options.resumes = true
        rig.manifest["stopWhen"] = "{failures: 'never'}"
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) >= 1000 + 450)
        #expect(sent.count(.rejected) >= 3500)
        #expect(server.log.accepted.values.allSatisfy { $0 == 1 })
    }

    @Test func deadDevicesAreNoFailures() throws {
        let server = try ScriptedServer { request in
            request.row % 20 == 0 ? .accept : .refuse(410, "Unregistered")
        }
        let sent = try SendingRig(server, rows: 3000).send()
        #expect(sent.summary.completed)
        #expect(sent.count(.unregistered) == 2850)
    }

    @Test func rowsThatAreExhaustedCountAsFailures() throws {
        let server = try ScriptedServer { _ in .refuse(500, "InternalServerError") }
        var rig = SendingRig(server, rows: 100)
        rig.manifest["retry"] = "{attempts: 1}"
        rig.manifest["stopWhen"] = "{failures: '100% of the last 20'}"
        let stopped = try rig.send()
        #expect(stopped.summary.exitStatus == 3)
        #expect(stopped.count(.exhausted) == 0)
        #expect(stopped.rows(with: OpenState.handedBack) >= 20)
    }

    @Test func aSmallFileIsDecidedAtItsEnd() throws {
        let server = try ScriptedServer { _ in .refuse(413, "PayloadTooLarge") }
        let sent = try SendingRig(server, rows: 99).send()
        #expect(sent.summary.completed)
        #expect(sent.count(.rejected) == 99)
    }

    /// A kill would find the row as not accepted, and an interruption does.
    @Test func aHeldRowIsOpenUntilItCountsNoMore() throws {
        let server = try ScriptedServer { request in
            request.row == 2 ? .refuse(400, "BadDeviceToken") : request.row > 10 ? .hold : .accept
        }
        var rig = SendingRig(server, rows: 30)
        let stopped = try {
            let running = try rig.start()
            server.waitForRequests(30)
            running.run.interrupt()
            server.releaseHeld()
            return try running.finish()
        }()
        #expect(stopped.summary.exitStatus == 130)
        #expect(stopped.ledger[1] == OpenState.waitingForRetry)
        #expect(stopped.count(.accepted) == 29)
        #expect(stopped.failureLineCount == 0)

        rig.options.resumes = true
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.unregistered) == 1)
        #expect(server.log.attempts[SendingRig.token(2)] == 2)
    }

    @Test func configurationAnswersOfAllWorkersAddUp() throws {
        let server = try ScriptedServer { _ in .refuse(403, "InvalidProviderToken") }
        var rig = SendingRig(server, rows: 8000)
        rig.options.threads = 2
        rig.options.connections = 2
        let stopped = try rig.send()
        #expect(stopped.summary.exitStatus == 3)
        #expect(stopped.summary.stoppedBecause?.contains("InvalidProviderToken") == true)
        // Five, and one that the other worker had in flight.
        #expect(5...6 ~= server.log.requests.count)
        #expect(stopped.rows(with: OpenState.handedBack) == server.log.requests.count)
    }

    @Test func anAcceptedRowOfAnotherWorkerClearsThem() throws {
        let server = try ScriptedServer { request in
            request.connection == 1 && request.index < 4
                ? .refuse(403, "InvalidProviderToken") : .accept
        }
        var rig = SendingRig(server, rows: 8000)
        rig.options.threads = 2
        rig.options.connections = 2
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.rejected) <= 4)
        #expect(sent.count(.accepted) + sent.count(.rejected) == 8000)
    }
}
