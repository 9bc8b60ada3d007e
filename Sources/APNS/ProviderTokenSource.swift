package import Crypto
internal import Synchronization

/// The provider token of a run: one for all connections and threads of the process, because APNs
/// answers 429 TooManyProviderTokenUpdates to an account whose senders each make their own.
///
/// APNs takes a token for an hour and a new one at most every 20 minutes. So a token is renewed at
/// 45 minutes, by whichever clock says so: the wall clock may be set back, which would pin a token
/// past its end, and the monotonic clock stands still while the machine sleeps. It is never renewed
/// before 20 minutes of the monotonic clock, so a wall clock that jumps cannot make a storm of
/// tokens.
///
/// Any thread. The times are the caller's: seconds since 1970 and monotonic nanoseconds.
package final class ProviderTokenSource: Sendable {
    /// The answer to ExpiredProviderToken.
    package enum Renewal: Sendable, Equatable {
        /// A token newer than the refused one: send with it, on a new connection.
        case renewed(token: ProviderToken, version: Int)
        /// APNs calls a token expired that is this old by both clocks: this machine's clock or
        /// APNs' is wrong, and another token would not help.
        case tooYoung(ageSeconds: Int64)
    }

    /// Age of renewal.
    package static let renewalAgeSeconds: Int64 = 45 * 60
    /// A kept token is given up at this age: two minutes before APNs refuses it.
    static let keptAgeSecondsMax: Int64 = APNSLimits.providerTokenAgeSecondsMax - 120
    /// A token is dated into the future by this much at most before it counts as due: then the wall
    /// clock was wrong when the token was made, and APNs may refuse it.
    static let futureSecondsMax: Int64 = 5 * 60

    private struct Made {
        var token: ProviderToken
        var madeAtNs: UInt64

        func ageSeconds(monotonicNs: UInt64) -> Int64 {
            monotonicNs > madeAtNs ? Int64((monotonicNs - madeAtNs) / 1_000_000_000) : 0
        }
    }

    private struct State {
        var version = 0
        var current: Made?
        /// The token before `current`, for when APNs finds the renewal too early.
        var previous: Made?
        /// Monotonic; no new token before.
        var heldUntilNs: UInt64 = 0
    }

    private let key: SigningKey
    private let keyID: String
    private let teamID: String
    private let state = Mutex(State())

    /// Makes no token yet. The ids are checked when the first one is made.
    package init(key: SigningKey, keyID: String, teamID: String) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    /// The token to send with, and its version, which grows with every change. Signs at most once
    /// in 20 minutes; otherwise costs a lock, so a worker should ask once a turn or less.
    package func current(
        wallSeconds: Int64, monotonicNs: UInt64
    ) throws(CryptoError) -> (token: ProviderToken, version: Int) {
        try state.withLock { (state) throws(CryptoError) in
            if let made = state.current,
                !isDue(made, wallSeconds: wallSeconds, monotonicNs: monotonicNs)
                    || monotonicNs < state.heldUntilNs
            {
                return (made.token, state.version)
            }
            return try make(&state, wallSeconds: wallSeconds, monotonicNs: monotonicNs)
        }
    }

    /// Call when APNs answered ExpiredProviderToken to a request that carried `version`. Many
    /// requests may fail at once; only the first one renews.
    package func expired(
        version: Int, wallSeconds: Int64, monotonicNs: UInt64
    ) throws(CryptoError) -> Renewal {
        try state.withLock { (state) throws(CryptoError) in
            if let made = state.current, version != state.version {
                return .renewed(token: made.token, version: state.version)
            }
            if let made = state.current {
                // The older by either clock: after a sleep of the machine only the wall clock
                // knows.
                let age = max(
                    made.ageSeconds(monotonicNs: monotonicNs),
                    wallSeconds - made.token.issuedAt)
                guard age >= APNSLimits.providerTokenUpdateSecondsMin else {
                    return .tooYoung(ageSeconds: max(age, 0))
                }
            }
            let (token, version) = try make(
                &state, wallSeconds: wallSeconds, monotonicNs: monotonicNs)
            return .renewed(token: token, version: version)
        }
    }

    /// Call when APNs answered TooManyProviderTokenUpdates to a request that carried `version`:
    /// no new token for 20 minutes or until the one in use nears its end, and back to the token
    /// before if that one is still good.
    package func updatesRefused(version: Int, wallSeconds: Int64, monotonicNs: UInt64) {
        state.withLock { state in
            guard version == state.version, let made = state.current else { return }
            if let previous = state.previous,
                age(previous, wallSeconds, monotonicNs) < Self.keptAgeSecondsMax
            {
                state.current = previous
                state.version += 1
            }
            state.previous = nil
            let used = state.current ?? made
            let left = Self.keptAgeSecondsMax - age(used, wallSeconds, monotonicNs)
            let hold = min(max(left, 0), APNSLimits.providerTokenUpdateSecondsMin)
            state.heldUntilNs = monotonicNs &+ UInt64(hold) * 1_000_000_000
        }
    }

    private func isDue(_ made: Made, wallSeconds: Int64, monotonicNs: UInt64) -> Bool {
        let age = made.ageSeconds(monotonicNs: monotonicNs)
        guard age >= APNSLimits.providerTokenUpdateSecondsMin else { return false }
        let wallAge = wallSeconds - made.token.issuedAt
        return age >= Self.renewalAgeSeconds || wallAge >= Self.renewalAgeSeconds
            || wallAge < -Self.futureSecondsMax
    }

    private func age(_ made: Made, _ wallSeconds: Int64, _ monotonicNs: UInt64) -> Int64 {
        max(made.ageSeconds(monotonicNs: monotonicNs), wallSeconds - made.token.issuedAt)
    }

    private func make(
        _ state: inout State, wallSeconds: Int64, monotonicNs: UInt64
    ) throws(CryptoError) -> (token: ProviderToken, version: Int) {
        let token = try ProviderToken.make(
            key: key, keyID: keyID, teamID: teamID, issuedAt: wallSeconds)
        state.previous = state.current
        state.current = Made(token: token, madeAtNs: monotonicNs)
        state.version += 1
        state.heldUntilNs = 0
        return (token, state.version)
    }
}
