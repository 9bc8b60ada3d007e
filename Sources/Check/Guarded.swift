internal import Glibc

/// A value that one thread at a time may use.
///
/// Made on a pthread mutex, which ThreadSanitizer knows; it takes what `Synchronization.Mutex`
/// guards for unguarded.
// @unchecked: the value is touched under the lock alone.
final class Guarded<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)  // owned
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits for the lock, and lends the value to `body`.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
