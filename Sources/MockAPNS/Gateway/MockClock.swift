internal import Glibc

/// The time of day by which the local APNs judges. Tests move one of their own.
package struct MockClock: Sendable {
    /// Seconds since 1970. *Thread:* any.
    let wallSeconds: @Sendable () -> Int64

    /// The machine's clock.
    package static let system = MockClock { wallClockSeconds() }

    package init(wallSeconds: @escaping @Sendable () -> Int64) { self.wallSeconds = wallSeconds }
}

/// The time of day in whole seconds since 1970.
func wallClockSeconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec)
}
