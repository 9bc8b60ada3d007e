import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DescriptorWatcherTests {
    @Test func deliversOnlyWhatWasAskedFor() throws {
        let loop = try EventLoop()
        let (here, there) = try pair()
        defer { close(both: (here, there)) }
        var seen: [Readiness] = []
        var watcher: DescriptorWatcher?
        watcher = try loop.watch(descriptor: here) { ready in
            seen.append(ready)
            // From writable to readable, then to nothing, which lets the loop end.
            watcher?.setInterest(seen.count == 1 ? .readable : [])
        }
        write(there, "x", 1)
        watcher?.setInterest(.writable)
        loop.run()
        #expect(seen == [.writable, .readable])
    }

    @Test func withoutInterestNothingIsDeliveredAndRunReturns() throws {
        let loop = try EventLoop()
        let (here, there) = try pair()
        defer { close(both: (here, there)) }
        var count = 0
        let watcher = try loop.watch(descriptor: here) { _ in count += 1 }
        write(there, "x", 1)
        loop.run()
        #expect(count == 0)
        watcher.close()
    }

    @Test func hangUpIsReadable() throws {
        let loop = try EventLoop()
        let (here, there) = try pair()
        defer { close(here) }
        var seen: Readiness?
        var watcher: DescriptorWatcher?
        watcher = try loop.watch(descriptor: here) { ready in
            seen = ready
            watcher?.close()
        }
        watcher?.setInterest(.readable)
        close(there)
        loop.run()
        #expect(seen == .readable)
    }

    @Test func anErrorIsDeliveredAsTheInterestAndAgainUntilItIsDealtWith() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        // Without a reader the writing end of a pipe is in the error state (poll(2), POLLERR).
        close(ends[0])
        defer { close(ends[1]) }
        var seen: [Readiness] = []
        var watcher: DescriptorWatcher?
        watcher = try loop.watch(descriptor: ends[1]) { ready in
            seen.append(ready)
            if seen.count == 2 { watcher?.close() }
        }
        watcher?.setInterest(.writable)
        loop.run()
        #expect(seen == [.writable, .writable])
    }

    @Test func aDescriptorMayBeWatchedAgainAfterTheFirstWatcherClosed() throws {
        let loop = try EventLoop()
        let (here, there) = try pair()
        defer { close(both: (here, there)) }
        let first = try loop.watch(descriptor: here) { _ in Issue.record("closed watcher spoke") }
        first.setInterest([.readable, .writable])
        first.close()
        var count = 0
        let second = try loop.watch(descriptor: here) { _ in
            count += 1
            loop.stop()
        }
        defer { second.close() }
        second.setInterest(.writable)
        loop.run()
        #expect(count == 1)
    }

    @Test func aBadDescriptorIsAnErrorWithItsCall() throws {
        let loop = try EventLoop()
        let error = #expect(throws: EventLoopError.self) {
            _ = try loop.watch(descriptor: 1_000_000) { _ in }
        }
        #expect(error?.code == -EBADF)
        #expect(error?.description == "uv_poll_init: bad file descriptor")
    }
}
