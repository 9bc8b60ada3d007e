import Foundation
import Synchronization

/// A thread that a test waits for.
final class TestThread: Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        let done = done
        Thread.detachNewThread {
            body()
            done.signal()
        }
    }

    func join() { done.wait() }
}
