import Testing

@testable import Load

struct MachineTimeTests {
    /// Columns as proc(5) has them: user, nice, system, idle, iowait, irq, softirq, steal, guest.
    @Test func busyIsWhatIsNeitherIdleNorWaiting() throws {
        let before = try #require(MachineTime(line: "cpu  100 0 50 800 50 0 0 0 0 0\n"))
        let after = try #require(MachineTime(line: "cpu  130 10 70 820 70 5 5 10 30 0\n"))
        // 30 + 10 + 20 + 5 + 5 + 10 = 80 busy, 20 + 20 = 40 idle.
        let share = try #require(after.busyShare(since: before))
        #expect(abs(share - 80.0 / 120) < 1e-12)
        #expect(before.busyShare(since: before) == nil)
    }

    @Test(arguments: ["", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3", "intr 1"])
    func otherLinesAreNone(line: String) {
        #expect(MachineTime(line: line) == nil)
    }

    @Test func thisMachineHasATime() { #expect(MachineTime.now() != nil) }
}

struct ThreadTimeTests {
    @Test func aThreadThatWorksRuns() {
        let before = ThreadTime.now()
        var sum: UInt64 = 0
        while ThreadTime.now().ranNs < before.ranNs + 1_000_000 { sum &+= 1 }
        #expect(sum > 0)
        #expect(ThreadTime.now().waitedNs >= before.waitedNs)
    }
}
