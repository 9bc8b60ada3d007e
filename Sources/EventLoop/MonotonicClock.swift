internal import CLibuv

/// The monotonic clock in nanoseconds: the one of every loop, for threads without one. Its zero
/// means nothing.
package func monotonicNowNs() -> UInt64 { uv_hrtime() }
