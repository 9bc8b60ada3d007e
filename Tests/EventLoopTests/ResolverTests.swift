import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResolverTests {
    @Test func numericHostComesBackButNotBeforeTheCallReturns() throws {
        let loop = try EventLoop()
        var found: [SocketAddress]?
        _ = try loop.resolve(host: "::1", port: 443) { found = try? $0.get() }
        #expect(found == nil)
        loop.run()
        #expect(found?.map(\.description) == ["[::1]:443"])
    }

    @Test func localhostHasALoopbackAddressWithThePort() throws {
        let loop = try EventLoop()
        var found: [SocketAddress] = []
        _ = try loop.resolve(host: "localhost", port: 2197) { found = (try? $0.get()) ?? [] }
        loop.run()
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0.isLoopback && $0.port == 2197 })
    }

    @Test func anImpossibleNameFailsWithTheHostAndTheRemedy() throws {
        let loop = try EventLoop()
        var failure: ResolveError?
        // No resolver asks the network for it: a label may have 63 bytes (RFC 1035, 2.3.4).
        let host = String(repeating: "x", count: 64) + ".invalid"
        _ = try loop.resolve(host: host, port: 443) {
            if case .failure(let error) = $0 { failure = error }
        }
        loop.run()
        #expect(failure?.host == host)
        #expect(failure?.description.contains("check the name") == true)
    }

    @Test func cancelledLookUpsNeverAnswerAndDoNotHoldTheLoop() throws {
        let loop = try EventLoop()
        for host in ["127.0.0.1", "localhost"] {
            try loop.resolve(host: host, port: 1) { _ in Issue.record("answered") }.cancel()
        }
        loop.run()
    }

    /// B66: each look-up ends, and leaves nothing behind.
    @Test func manyLookUpsAllAnswerAlsoWhenSomeAreCancelledByOthers() throws {
        let loop = try EventLoop()
        var answered = 0
        var victim: Resolution?
        for index in 0..<20 {
            _ = try loop.resolve(host: "localhost", port: UInt16(index)) { _ in
                answered += 1
                victim?.cancel()
            }
        }
        victim = try loop.resolve(host: "localhost", port: 99) { _ in
            Issue.record("cancelled by the first answer")
        }
        loop.run()
        #expect(answered == 20)
    }
}
