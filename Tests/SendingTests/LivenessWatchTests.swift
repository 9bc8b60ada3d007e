import Testing

@testable import Sending

/// Silence and signs of life, on a clock that is moved by hand.
struct LivenessWatchTests {
    private static let second: UInt64 = 1_000_000_000

    /// The seconds at which a watch says something other than `.nothing`, looking ten times a
    /// second until it says `.dead`.
    private func steps(
        _ watch: inout LivenessWatch, inFlight: Int, seconds: Int, bytes: (Double) -> UInt64
    ) -> [String] {
        var said: [String] = []
        for tenth in 0...seconds * 10 {
            let time = Double(tenth) / 10
            let step = watch.look(
                bytesReceived: bytes(time), requestsInFlight: inFlight,
                nowNs: UInt64(tenth) * Self.second / 10)
            if step != .nothing { said.append("\(step) \(time)") }
            if step == .dead { break }
        }
        return said
    }

    /// B17, B19: nothing at all for 20 s while requests are in flight, then nothing for 10 s more.
    @Test func silenceIsAskedAboutAndThenIsDeath() {
        var watch = LivenessWatch(requestNs: 30 * Self.second, nowNs: 0)
        #expect(
            steps(&watch, inFlight: 1, seconds: 60, bytes: { _ in 0 }) == [
                "ping 20.0", "dead 30.0",
            ])
    }

    /// B29: a PING alone changes nothing; one that is not answered ends the connection.
    @Test func anAnsweredPingIsASignOfLife() {
        var watch = LivenessWatch(requestNs: 60 * Self.second, nowNs: 0)
        // Each PING is answered after 3 s.
        let said = steps(&watch, inFlight: 1, seconds: 70) { time in
            time >= 46 ? 34 : time >= 23 ? 17 : 0
        }
        #expect(said == ["ping 20.0", "ping 43.0", "ping 66.0"])
    }

    @Test func aConnectionThatAnswersIsNotAsked() {
        var watch = LivenessWatch(requestNs: 60 * Self.second, nowNs: 0)
        #expect(steps(&watch, inFlight: 5, seconds: 120, bytes: { UInt64($0) }) == [])
    }

    /// B28: an idle connection is asked at most once a minute; an answer comes at once.
    @Test func anIdleConnectionIsAskedOnceAMinute() {
        var watch = LivenessWatch(requestNs: 30 * Self.second, nowNs: 0)
        var pings: UInt64 = 0
        var times: [Int] = []
        for tenth in 0..<3_000 {
            let step = watch.look(
                bytesReceived: pings * 17, requestsInFlight: 0,
                nowNs: UInt64(tenth) * Self.second / 10)
            guard step == .ping else { continue }
            pings += 1
            times.append(tenth / 10)
        }
        #expect(times == [60, 120, 180, 240])
    }

    /// B27: the connection of a pause that was cut by something on the way is found out.
    @Test func anIdleConnectionThatIsCutOffDies() {
        var watch = LivenessWatch(requestNs: 30 * Self.second, nowNs: 0)
        #expect(
            steps(&watch, inFlight: 0, seconds: 90, bytes: { _ in 0 }) == [
                "ping 60.0", "dead 70.0",
            ])
    }

    /// B14: a request that is not answered in time is followed by a PING at once.
    @Test func aRequestThatTimesOutIsAskedAbout() {
        var watch = LivenessWatch(requestNs: 30 * Self.second, nowNs: 0)
        #expect(watch.look(bytesReceived: 9, requestsInFlight: 1, nowNs: Self.second) == .nothing)
        watch.requestTimedOut()
        #expect(watch.look(bytesReceived: 9, requestsInFlight: 0, nowNs: Self.second) == .ping)
        #expect(watch.look(bytesReceived: 9, requestsInFlight: 0, nowNs: 11 * Self.second) == .dead)
    }

    /// Short deadlines for requests shorten these, down to a second: below that, a busy machine
    /// would look dead.
    @Test func theDeadlinesShrinkWithTheRequests() {
        let short = LivenessWatch(requestNs: 8 * Self.second, nowNs: 0)
        #expect(short.silenceNs == 4 * Self.second)
        #expect(short.pongNs == 2 * Self.second)
        let least = LivenessWatch(requestNs: Self.second / 20, nowNs: 0)
        #expect(least.silenceNs == Self.second)
        #expect(least.pongNs == Self.second)
    }
}
