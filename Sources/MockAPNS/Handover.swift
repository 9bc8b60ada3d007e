internal import Glibc
internal import Synchronization

/// Hands one value from one thread to another, which waits for it.
///
/// *Ownership:* the semaphore is this object's; both sides hold a reference while they use it.
final class Handover<Value: Sendable>: @unchecked Sendable {
    // Proof for @unchecked: `sem_t` is made for use by several threads, the rest is a Mutex.
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let value = Mutex<Value?>(nil)

    init() {
        semaphore = .allocate(capacity: 1)
        precondition(sem_init(semaphore, 0, 0) == 0)  // Fails only for a value out of range.
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Once, on the giving side.
    func put(_ value: Value) {
        self.value.withLock { $0 = value }
        sem_post(semaphore)
    }

    /// Once, on the waiting side.
    func take() -> Value {
        while sem_wait(semaphore) != 0 {}  // EINTR is the only failure of a valid semaphore.
        return value.withLock { $0 }!  // Proof: `put` stores before it posts.
    }
}
