import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(5))) struct PreciseTimerTests {
    @Test func itFiresAfterItsTimeAndInOrder() throws {
        let loop = try EventLoop()
        let startNs = loop.nowNs
        var fired: [UInt64] = []
        var timer: PreciseTimer?
        timer = try loop.makePreciseTimer {
            fired.append(loop.nowNs)
            guard fired.count < 20 else { return loop.stop() }
            timer?.start(atNs: startNs + UInt64(fired.count) * 200_000)
        }
        timer?.start(atNs: startNs + 100_000)
        loop.run()
        #expect(fired.count == 20)
        for (index, ns) in fired.enumerated().dropFirst() {
            #expect(ns >= startNs + UInt64(index) * 200_000)
        }
        timer?.close()
        loop.close()
    }

    @Test func aTimeThatHasPassedFiresAtOnce() throws {
        let loop = try EventLoop()
        var count = 0
        let timer = try loop.makePreciseTimer {
            count += 1
            loop.stop()
        }
        timer.start(atNs: 0)
        loop.run()
        #expect(count == 1)
        timer.close()
        loop.close()
    }

    @Test func startingAnewReplacesTheTimeAndClosingEndsIt() throws {
        let loop = try EventLoop()
        var count = 0
        let timer = try loop.makePreciseTimer {
            count += 1
            loop.stop()
        }
        timer.start(atNs: loop.nowNs + 3_600_000_000_000)
        timer.start(atNs: loop.nowNs + 1_000)
        loop.run()
        #expect(count == 1)
        timer.start(atNs: 1)
        timer.close()
        timer.close()
        timer.start(atNs: 1)
        // Nothing is left to wait for.
        loop.run()
        #expect(count == 1)
        loop.close()
    }
}
