internal import Glibc
internal import Synchronization

/// Stops a `RecipientReader` from another thread, also one that waits for a pipe.
///
/// *Thread*: any.
package final class ReadCancellation: Sendable {
    /// The end of a pipe that becomes readable and stays so; -1 if the system had no descriptor
    /// left, and then a reader notices a cancellation only when its input moves. Owned.
    let descriptor: Int32
    private let writeDescriptor: Int32  // owned
    private let flag = Atomic<Bool>(false)

    package init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        descriptor = ends[0]
        writeDescriptor = ends[1]
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        close(writeDescriptor)
    }

    /// From now on `RecipientReader.next` answers false. May be called again.
    package func cancel() {
        flag.store(true, ordering: .releasing)
        // The only failure is a pipe that is full, and then it is readable already.
        var byte: UInt8 = 0
        _ = write(writeDescriptor, &byte, 1)
    }

    package var isCancelled: Bool { flag.load(ordering: .acquiring) }
}
