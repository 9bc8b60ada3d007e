import APNS
import Crypto
import Testing

/// Lessons B45–B51, on two clocks that are moved by hand.
@Suite struct ProviderTokenSourceTests {
    private let source: ProviderTokenSource
    /// Wall clock and monotonic clock begin at unrelated values.
    private let wallStart: Int64 = 1_700_000_000
    private let monotonicStart: UInt64 = 5_000_000_000

    init() throws {
        source = ProviderTokenSource(
            key: try SigningKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    }

    /// The token when so many minutes have passed by each clock.
    private func version(wall: Int64, monotonic: Int64) throws -> Int {
        try current(wall: wall, monotonic: monotonic).version
    }

    private func current(
        wall: Int64, monotonic: Int64
    ) throws -> (token: ProviderToken, version: Int) {
        try source.current(
            wallSeconds: wallStart + wall * 60, monotonicNs: nanoseconds(monotonic))
    }

    private func nanoseconds(_ minutes: Int64) -> UInt64 {
        monotonicStart + UInt64(minutes) * 60_000_000_000
    }

    private func expired(_ version: Int, wall: Int64, monotonic: Int64) throws
        -> ProviderTokenSource.Renewal
    {
        try source.expired(
            version: version, wallSeconds: wallStart + wall * 60,
            monotonicNs: nanoseconds(monotonic))
    }

    /// B45: refreshed before the hour; B50: minutes are minutes, not one token per call.
    @Test func oneTokenServesFortyFourMinutesAndIsRenewedAtFortyFive() throws {
        let first = try current(wall: 0, monotonic: 0)
        #expect(first.token.issuedAt == wallStart)
        for minute in Int64(0)..<45 {
            let again = try current(wall: minute, monotonic: minute)
            #expect(again.token == first.token)
            #expect(again.version == first.version)
        }
        let second = try current(wall: 45, monotonic: 45)
        #expect(second.token.issuedAt == wallStart + 45 * 60)
        #expect(second.version == first.version + 1)
    }

    /// B46: the age counts from when the token was made, not from a timer that runs by itself.
    @Test func theAgeCountsFromTheMaking() throws {
        let first = try version(wall: 50, monotonic: 50)
        #expect(try version(wall: 90, monotonic: 90) == first)
        #expect(try version(wall: 95, monotonic: 95) == first + 1)
        #expect(try version(wall: 139, monotonic: 139) == first + 1)
    }

    /// B51: the wall clock is set back an hour; the monotonic clock knows the true age.
    @Test func aWallClockSetBackDoesNotPinTheToken() throws {
        let first = try version(wall: 0, monotonic: 0)
        #expect(try version(wall: -60 + 19, monotonic: 19) == first)
        let renewed = try current(wall: -60 + 45, monotonic: 45)
        #expect(renewed.version == first + 1)
        #expect(renewed.token.issuedAt == wallStart - 15 * 60)
    }

    /// A small step back (a leap of NTP) changes nothing before the 45 minutes.
    @Test func aSmallStepBackIsNoReasonToRenew() throws {
        let first = try version(wall: 0, monotonic: 0)
        #expect(try version(wall: -4, monotonic: 21) == first)
        #expect(try version(wall: -4 + 44, monotonic: 44) == first)
    }

    /// The machine slept: the monotonic clock stood still, the wall clock knows the true age.
    @Test func theWallClockRenewsAfterASleepOnceTwentyMinutesArePast() throws {
        let first = try version(wall: 0, monotonic: 0)
        #expect(try version(wall: 44, monotonic: 20) == first)
        #expect(try version(wall: 45, monotonic: 20) == first + 1)
    }

    /// Never younger than 20 minutes, whatever the wall clock does.
    @Test func aJumpingWallClockCannotMakeAStormOfTokens() throws {
        let first = try version(wall: 0, monotonic: 0)
        for minute in Int64(0)..<20 {
            let jump: Int64 = minute % 2 == 0 ? 100_000 : -100_000
            #expect(try version(wall: jump, monotonic: minute) == first)
        }
        #expect(try version(wall: 100_000, monotonic: 20) == first + 1)
        #expect(try version(wall: -100_000, monotonic: 39) == first + 1)
        #expect(try version(wall: -100_000, monotonic: 40) == first + 2)
    }

    /// A monotonic time before the making (a reading taken just before the lock) is age zero.
    @Test func aMonotonicTimeFromBeforeTheMakingIsNoAge() throws {
        let first = try version(wall: 10, monotonic: 10)
        #expect(try version(wall: 9, monotonic: 9) == first)
    }

    /// B47: one token for all threads of the process.
    @Test func allThreadsGetTheSameToken() async throws {
        let source = self.source
        let wall = wallStart
        let texts = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<200).map { step in
                        try source.current(
                            wallSeconds: wall + Int64(step), monotonicNs: UInt64(step) + 1
                        ).token.text
                    }
                }
            }
            var all: Set<String> = []
            for try await part in group { all.formUnion(part) }
            return all
        }
        #expect(texts.count == 1)
    }

    /// B52: ExpiredProviderToken on many streams at once makes one new token.
    @Test func manyExpiredAnswersAtOnceRenewOnce() throws {
        let first = try version(wall: 0, monotonic: 0)
        let renewal = try expired(first, wall: 30, monotonic: 30)
        guard case .renewed(let token, let version) = renewal else {
            Issue.record("\(renewal)")
            return
        }
        #expect(version == first + 1)
        #expect(token.issuedAt == wallStart + 30 * 60)
        for _ in 0..<10 {
            #expect(try expired(first, wall: 30, monotonic: 30) == renewal)
        }
        #expect(try self.version(wall: 30, monotonic: 30) == version)
    }

    @Test func aYoungTokenThatIsCalledExpiredIsNotRenewed() throws {
        let first = try version(wall: 0, monotonic: 0)
        #expect(
            try expired(first, wall: 19, monotonic: 19) == .tooYoung(ageSeconds: 19 * 60))
        #expect(try expired(first, wall: -70, monotonic: 1) == .tooYoung(ageSeconds: 60))
        #expect(try version(wall: 19, monotonic: 19) == first)
    }

    /// After a sleep of the machine only the wall clock knows, and APNs has said so too.
    @Test func aTokenThatIsOldByTheWallClockAloneIsRenewedWhenAPNsCallsItExpired() throws {
        let first = try version(wall: 0, monotonic: 0)
        guard case .renewed(_, first + 1) = try expired(first, wall: 90, monotonic: 2) else {
            Issue.record("not renewed")
            return
        }
    }

    /// B48: told that the update came too early, go back to the old token while it is good.
    @Test func aRefusedUpdateBringsTheOldTokenBack() throws {
        let old = try current(wall: 0, monotonic: 0)
        let new = try current(wall: 45, monotonic: 45)
        source.updatesRefused(
            version: new.version, wallSeconds: wallStart + 46 * 60, monotonicNs: nanoseconds(46))
        let kept = try current(wall: 46, monotonic: 46)
        #expect(kept.token == old.token)
        #expect(kept.version == new.version + 1)
        // Another stream reports the same: nothing more happens.
        source.updatesRefused(
            version: new.version, wallSeconds: wallStart + 46 * 60, monotonicNs: nanoseconds(46))
        #expect(try current(wall: 57, monotonic: 57).token == old.token)
        // Two minutes before APNs would call it expired, a new one is made after all.
        #expect(try current(wall: 58, monotonic: 58).token.issuedAt == wallStart + 58 * 60)
    }

    /// B48: without an older token, at least no new one is made for 20 minutes.
    @Test func aRefusedFirstTokenIsKeptAndTheNextIsHeldBack() throws {
        let first = try current(wall: 0, monotonic: 0)
        source.updatesRefused(
            version: first.version, wallSeconds: wallStart + 36 * 60, monotonicNs: nanoseconds(36)
        )
        #expect(try current(wall: 50, monotonic: 50).token == first.token)
        #expect(try current(wall: 55, monotonic: 55).token == first.token)
        #expect(try current(wall: 56, monotonic: 56).version == first.version + 1)
    }

    @Test func anOldTokenNearItsEndIsNotBroughtBack() throws {
        _ = try current(wall: 0, monotonic: 0)
        let new = try current(wall: 57, monotonic: 57)
        source.updatesRefused(
            version: new.version, wallSeconds: wallStart + 58 * 60, monotonicNs: nanoseconds(58))
        #expect(try current(wall: 58, monotonic: 58).token == new.token)
        #expect(try current(wall: 77, monotonic: 77).version == new.version)
    }
}
