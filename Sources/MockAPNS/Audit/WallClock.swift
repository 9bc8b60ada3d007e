internal import Glibc

/// The time of day in milliseconds since 1970.
func wallClockMilliseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(now.tv_sec) * 1_000 + UInt64(now.tv_nsec) / 1_000_000
}
