import EventLoop
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct EventLoopTests {
    @Test func runReturnsWhenNothingIsLeft() throws {
        let loop = try EventLoop()
        loop.run()
        var turns = 0
        loop.beforePoll { turns += 1 }
        loop.run()
        #expect(turns <= 1)
    }

    @Test func timerIsNeverEarlyAlsoAfterALongTurn() throws {
        let loop = try EventLoop()
        var started: UInt64 = 0
        var fired: UInt64 = 0
        let timer = try loop.makeTimer { fired = loop.nowNs }
        let first = try loop.makeTimer {
            // The loop's own idea of the time is now 30 ms old.
            let begin = loop.nowNs
            while loop.nowNs < begin + 30_000_000 {}
            started = loop.nowNs
            timer.start(afterMs: 40)
        }
        defer { first.close() }
        first.start(afterMs: 0)
        loop.run()
        // libuv counts whole milliseconds, so up to one may be cut off.
        #expect(fired >= started + 39_000_000)
    }

    @Test func repeatingTimerRunsUntilItClosesItself() throws {
        let loop = try EventLoop()
        var count = 0
        var timer: LoopTimer?
        timer = try loop.makeTimer {
            count += 1
            if count == 3 {
                timer?.close()
                timer?.close()
                timer?.start(afterMs: 0)
                timer = nil
            }
        }
        timer?.start(afterMs: 1, repeatMs: 1)
        loop.run()
        #expect(count == 3)
    }

    @Test func droppedTimerDoesNotFire() throws {
        let loop = try EventLoop()
        var fired = false
        try loop.makeTimer { fired = true }.start(afterMs: 0)
        loop.run()
        #expect(!fired)
    }

    @Test func beforePollRunsOncePerTurnAheadOfDescriptors() throws {
        let loop = try EventLoop()
        let (here, there) = try pair()
        defer { close(both: (here, there)) }
        var order: [String] = []
        loop.beforePoll { order.append("before") }
        let watcher = try loop.watch(descriptor: here) { _ in
            order.append("ready")
            if order.count(where: { $0 == "ready" }) == 2 { loop.stop() }
        }
        defer { watcher.close() }
        watcher.setInterest(.readable)
        write(there, "x", 1)
        loop.run()
        #expect(order == ["before", "ready", "before", "ready"])
    }

    @Test func closeEndsWhateverIsActiveAndLetsGoOfEveryBody() throws {
        final class Witness {}
        weak var witness: Witness?
        let (here, there) = try pair()
        defer { close(both: (here, there)) }
        var keep: [AnyObject] = []
        do {
            let captured = Witness()
            witness = captured
            let loop = try EventLoop()
            loop.beforePoll { withExtendedLifetime(captured) {} }
            let timer = try loop.makeTimer { withExtendedLifetime(captured) {} }
            timer.start(afterMs: 1_000_000)
            let wakeup = try loop.makeWakeup { withExtendedLifetime(captured) {} }
            let watcher = try loop.watch(descriptor: here) { _ in
                withExtendedLifetime(captured) {}
            }
            watcher.setInterest([.readable, .writable])
            let look = try loop.resolve(host: "localhost", port: 1) { _ in
                withExtendedLifetime(captured) {}
            }
            keep = [timer, wakeup, watcher, look]
            loop.close()
            loop.close()
            // Everything may still be called.
            timer.start(afterMs: 1)
            timer.stop()
            watcher.setInterest(.readable)
            wakeup.send()
            look.cancel()
            loop.stop()
            loop.run()
            #expect(throws: EventLoopError.self) { _ = try loop.makeTimer {} }
        }
        #expect(witness == nil)
        #expect(keep.count == 4)
    }

    @Test func theLoopMayEndWithTheBodyOfItsLastTimer() throws {
        weak var seen: EventLoop?
        do {
            let timer: LoopTimer
            do {
                let loop = try EventLoop()
                seen = loop
                // The body alone keeps the loop.
                timer = try loop.makeTimer { loop.stop() }
            }
            timer.close()
        }
        #expect(seen == nil)
    }

    @Test func closeInsideACallbackTakesEffectWhenRunReturns() throws {
        let loop = try EventLoop()
        var later = false
        let second = try loop.makeTimer { later = true }
        let first = try loop.makeTimer { loop.close() }
        defer {
            first.close()
            second.close()
        }
        first.start(afterMs: 0)
        second.start(afterMs: 50)
        loop.run()
        #expect(!later)
        #expect(throws: EventLoopError.self) { _ = try loop.makeWakeup {} }
    }

    @Test func stopBeforeRunMakesThatRunReturn() throws {
        let loop = try EventLoop()
        let wakeup = try loop.makeWakeup {}
        loop.stop()
        loop.run()
        wakeup.send()
    }

    @Test func wakeupsFromManyThreadsReachTheLoopAndOutliveIt() throws {
        let loop = try EventLoop()
        let sent = Counter()
        let count = 4
        let wakeup = try loop.makeWakeup {
            if sent.value == count { loop.stop() }
        }
        var threads: [PlatformThread] = []
        for _ in 0..<count {
            threads.append(
                try PlatformThread.start(name: "sender") {
                    for _ in 0..<100 { wakeup.send() }
                    sent.increment()
                    wakeup.send()
                    // A second volley races with the loop's close.
                    for _ in 0..<1000 { wakeup.send() }
                })
        }
        loop.run()
        loop.close()
        for thread in threads { thread.join() }
        wakeup.send()
    }

    @Test func signalReachesItsLoop() throws {
        let loop = try EventLoop()
        var count = 0
        let watcher = try loop.watchSignal(SIGUSR2) {
            count += 1
            loop.stop()
        }
        kill(getpid(), SIGUSR2)
        loop.run()
        watcher.close()
        #expect(count == 1)
    }

    @Test func threadRunsUnderItsNameAndJoinSeesWhatItDid() throws {
        let result = Box()
        let thread = try PlatformThread.start(name: "a name of more than fifteen bytes") {
            result.text.withLock { $0 = currentThreadName() }
        }
        thread.join()
        thread.join()
        #expect(result.text.withLock { $0 } == "a name of more ")
    }
}

/// Two connected non-blocking sockets.
func pair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(
        SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    return (ends[0], ends[1])
}

func close(both ends: (Int32, Int32)) {
    close(ends.0)
    close(ends.1)
}

private func currentThreadName() -> String {
    guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 64)
    fgets(&line, 64, file)
    return String(
        decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) },
        as: UTF8.self)
}

private final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .acquiring) }
    func increment() { count.wrappingAdd(1, ordering: .releasing) }
}

private final class Box: Sendable {
    let text = Mutex("")
}
