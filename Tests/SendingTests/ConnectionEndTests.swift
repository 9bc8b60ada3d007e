import APNS
import Foundation
import HTTP2
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Sending

/// Why connections ended: told once for each, and with the rows that suffered from it.
@Suite(.timeLimit(.minutes(5))) struct ConnectionEndTests {
    /// Row 1 is answered; the first connection then goes the given way at row 2.
    private func run(
        _ action: ScriptedAction, rows: Int = 12, onUnknown: String = "skip"
    ) throws -> (server: ScriptedServer, sent: SentRun) {
        let server = try ScriptedServer { request in
            request.connection == 0 && request.index == 1 ? action : .accept
        }
        var rig = SendingRig(server, rows: rows)
        rig.options.streams = 1
        rig.manifest["retry"] = "{onUnknown: '\(onUnknown)'}"
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 0)
        return (server, sent)
    }

    /// B21: one line for each connection, with what it has carried.
    @Test func everyConnectionLeavesALine() throws {
        let (server, sent) = try run(.cut)
        #expect(sent.connections.count == 2)
        let first = try #require(sent.connections.first)
        #expect(first["requests"] as? Int == 2)
        #expect(first["answered"] as? Int == 1)
        // The client's streams are 1, 3, 5 … (RFC 9113, section 5.1.1).
        #expect(first["lastStreamSent"] as? Int == 3)
        #expect(first["lastStreamAnswered"] as? Int == 1)
        #expect(first["address"] as? String == "127.0.0.1:\(server.endpoint.port)")
        #expect(try #require(first["bytesSent"] as? Int) > 0)
        #expect(try #require(first["bytesReceived"] as? Int) > 0)
        #expect(try #require(first["seconds"] as? Double) >= 0)
        #expect(Timestamp(rfc3339: try #require(first["opened"] as? String)) != nil)
        #expect(first["end"] as? String == "the other side closed the connection")
        #expect(first["goAway"] == nil)
        let last = try #require(sent.connections.last)
        #expect(last["answered"] as? Int == 10)
        #expect(last["end"] as? String == "there were no more rows for it")
    }

    @Test func theFileIsNobodyElses() throws {
        let server = try ScriptedServer { _ in .accept }
        let rig = SendingRig(server)
        _ = try rig.send()
        let path = rig.folder.path + "/run/connections.ndjson"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    /// B05, B30: the row says what became of its connection.
    @Test func rowsThatALostConnectionLeftUnknownSayWhy() throws {
        let (_, sent) = try run(.cut)
        #expect(sent.count(.unknown) == 1)
        #expect(sent.failures[2]?.detail == "the other side closed the connection")
    }

    @Test func anAnswerThatIsRetriedSaysWhy() throws {
        let (_, sent) = try run(.abort, onUnknown: "resend")
        #expect(sent.count(.accepted) == 12)
        #expect(sent.retries.count == 1)
        #expect(
            sent.retries.first?["detail"] as? String == sent.connections.first?["end"] as? String)
        // The system's words for ECONNRESET.
        #expect(try #require(sent.retries.first?["detail"] as? String).contains("reset by peer"))
    }

    /// B31: a reset names its code.
    @Test func aResetStreamNamesItsCode() throws {
        let (_, sent) = try run(.reset(.internalError))
        #expect(sent.failures[2]?.detail == "the server reset the stream: INTERNAL_ERROR (2)")
    }

    /// B05: code and reason of a GOAWAY, in the rows and in the file.
    @Test(arguments: [
        ("{\"reason\":\"BadCertificate\"}", "BadCertificate"),
        ("maximum active streams violated", "maximum active streams violated"),
        ("a\u{1B}[2Jb\r\nc\u{202E}d\0", "a [2Jb c d"), ("", ""),
        (String(repeating: "x", count: 4_000), String(repeating: "x", count: 200)),
    ])
    func aGoAwayThatEndsAConnectionIsQuoted(text: String, reason: String) throws {
        let frame = ScriptedGoAway(last: .this, code: .enhanceYourCalm, text: text)
        let (_, sent) = try run(.goAway([frame], thenCut: true))
        let first = try #require(sent.connections.first)
        let goAway = try #require(first["goAway"] as? [String: Any])
        #expect(goAway["code"] as? String == "ENHANCE_YOUR_CALM (11)")
        #expect(goAway["reason"] as? String == (reason.isEmpty ? nil : reason))
        #expect(goAway["lastStream"] as? Int == 3)
        let told = "GOAWAY ENHANCE_YOUR_CALM (11)" + (reason.isEmpty ? "" : ": \(reason)")
        #expect(
            first["end"] as? String == "\(told); then: the other side closed the connection")
        #expect(sent.failures[2]?.detail == first["end"] as? String)
        #expect(sent.summary.connections.goaway == 1)
        #expect(sent.summary.connections.lost == 0)
    }

    /// B06: maintenance is no failure of any row.
    @Test func aShutdownIsNoFailure() throws {
        let frame = ScriptedGoAway(text: "{\"reason\":\"Shutdown\"}")
        let (server, sent) = try run(.goAway([frame]))
        #expect(sent.count(.accepted) == 12)
        #expect(sent.summary.attempts == 12)
        #expect(sent.failureLineCount == 0)
        #expect(sent.connections.first?["end"] as? String == "GOAWAY NO_ERROR (0): Shutdown")
        #expect(server.log.connectionCount == 2)
    }

    /// B01, B11: announced with 2^31 − 1, then named: nothing is refused and nothing lost.
    @Test func aShutdownInTwoStepsIsDrained() throws {
        let frames = [
            ScriptedGoAway(last: .max), ScriptedGoAway(text: "{\"reason\":\"IdleTimeout\"}"),
        ]
        let (server, sent) = try run(.goAway(frames))
        #expect(sent.count(.accepted) == 12)
        #expect(sent.summary.attempts == 12)
        #expect(sent.summary.connections.goaway == 1)
        let goAway = try #require(sent.connections.first?["goAway"] as? [String: Any])
        #expect(goAway["reason"] as? String == "IdleTimeout")
        #expect(goAway["lastStream"] as? Int == 3)
        #expect(server.log.connectionCount == 2)
    }

    /// The reason may come first, and the frame that ends it all be bare.
    @Test func theReasonOfTheFirstOfTwoGoAwaysStays() throws {
        let frames = [
            ScriptedGoAway(text: "{\"reason\":\"Shutdown\"}"), ScriptedGoAway(code: .internalError),
        ]
        let (_, sent) = try run(.goAway(frames, thenCut: true))
        let goAway = try #require(sent.connections.first?["goAway"] as? [String: Any])
        #expect(goAway["reason"] as? String == "Shutdown")
        #expect(goAway["code"] as? String == "INTERNAL_ERROR (2)")
    }

    /// B02: rows in flight on a connection that leaves do not hold up the others.
    @Test func theReplacementIsOpenBeforeTheOldConnectionIsEmpty() throws {
        let server = try ScriptedServer { request in
            guard request.connection == 0 else { return .accept }
            return switch request.index {
            case 0: .accept
            case 1: .hold
            default: .goAwayBefore
            }
        }
        var rig = SendingRig(server, rows: 30)
        rig.options.streams = 2
        let running = try rig.start()
        server.waitForRequests(31)  // 30 rows, one of them twice; one is held
        server.releaseHeld()
        let sent = try running.finish()
        #expect(sent.count(.accepted) == 30)
        #expect(sent.summary.attempts == 30)
        #expect(server.log.connectionCount == 2)
    }

    /// B17, B25, B29: a server that takes requests and is silent. The requests' own deadline is far
    /// away; the connection's is not.
    @Test func aConnectionThatFallsSilentIsReplaced() throws {
        let server = try ScriptedServer { request in
            request.connection == 0 && request.index == 1 ? .freeze : .accept
        }
        var rig = SendingRig(server, rows: 12)
        rig.options.streams = 1
        rig.manifest["timeouts"] = "{request: '5s'}"  // a half for silence, a quarter for the PING
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 12)
        let end = try #require(sent.connections.first?["end"] as? String)
        #expect(end == "nothing came from the server, not even the answer to a PING in 1.25 s")
        #expect(sent.retries.allSatisfy { $0["detail"] as? String == end })
        #expect(sent.retries.count == 1)
        #expect(server.log.connectionCount == 2)
    }

    /// B34: what one connection left without an answer goes to another.
    @Test func aRowThatTimedOutGoesToAnotherConnection() throws {
        let refusing = Mutex<Int?>(nil)
        let server = try ScriptedServer { request in
            guard request.row == 40 else { return .accept }
            let first = refusing.withLock { first in
                if first == nil { first = request.connection }
                return first
            }
            return request.connection == first ? .silence : .accept
        }
        var rig = SendingRig(server, rows: 2_000)
        rig.options.connections = 2
        rig.options.streams = 4
        rig.options.rate = 2_000
        rig.manifest["timeouts"] = "{request: '200ms'}"
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 2_000)
        let tries = server.log.requests.filter { $0.row == 40 }.map(\.connection)
        #expect(tries.count == 2)
        #expect(Set(tries).count == 2)
    }

    /// A connection behind which nothing works is replaced; the others go on.
    @Test func aConnectionThatAnswersOnlyServerErrorsIsReplaced() throws {
        let server = try ScriptedServer { request in
            request.connection == 0 && request.index > 0
                ? .refuse(500, "InternalServerError") : .accept
        }
        var rig = SendingRig(server, rows: 400)
        rig.options.streams = 1
        let sent = try rig.send()
        // Twenty errors use up the three attempts of six rows at most.
        #expect(sent.count(.accepted) + sent.count(.exhausted) == 400)
        #expect(sent.count(.exhausted) <= 6)
        #expect(server.log.requests.count { $0.connection == 0 } == 21)
        #expect(server.log.connectionCount == 2)
        #expect(
            sent.connections.first?["end"] as? String
                == "the server answers every request with 500")
    }

    /// B16, B32: a server that is away for a while costs no row and no restart.
    @Test func aRunOutlivesAnOutage() throws {
        let server = try ScriptedServer(
            opening: { (1...6).contains($0) ? .close : .serve },
            script: { $0.connection == 0 && $0.index == 10 ? .cut : .accept })
        let sent = try SendingRig(server, rows: 200).send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 200)
        #expect(server.log.connectionCount == 8)
        #expect(sent.connections.count == 8)
    }

    /// B69: nobody listens at the first port; the server is found at the second.
    @Test func theOtherPortIsTriedWhenTheFirstLeadsNowhere() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server, rows: 5)
        rig.options.endpoint = Endpoint(
            host: "127.0.0.1", port: 1, alternatePort: server.endpoint.port)
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 5)
        #expect(sent.connections.count == 2)
    }

    @Test func bothPortsAreNamedWhenNeitherAnswers() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server, rows: 5)
        rig.options.endpoint = Endpoint(host: "127.0.0.1", port: 1, alternatePort: 2)
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 3)
        let message = try #require(sent.summary.stoppedBecause)
        for port in [1, 2] { #expect(message.contains("https://127.0.0.1:\(port)")) }
    }
}
