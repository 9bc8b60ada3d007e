internal import EventLoop
internal import Glibc

/// The file with one line per request, and the thread that writes it.
///
/// No line is ever lost while the file takes them: when the disk is slower than the requests, the
/// workers wait for it. A file that fails (a full disk) is given up; `failure` says so.
/// *Thread*: any. *Limits*: two buffers of `bufferBytes`.
final class RequestLog: @unchecked Sendable {
    // Proof for @unchecked: everything that changes is used with `mutex` locked, but for `writing`,
    // which the writer's thread alone touches between two swaps.
    private static let bufferBytes = 1 << 20

    let path: String
    private let descriptor: Int32
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasBytes = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let hasRoom = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var filling = UnsafeMutableRawBufferPointer.allocate(
        byteCount: bufferBytes, alignment: 64)
    private var writing = UnsafeMutableRawBufferPointer.allocate(
        byteCount: bufferBytes, alignment: 64)
    private var filled = 0
    private var isClosing = false
    private var errorNumber: Int32 = 0
    private var thread: PlatformThread?

    /// Opens or makes the file (mode 0600: device tokens are personal) to append to it.
    init(path: String) throws(MockError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw MockError(
                "cannot write the log \(path): \(String(cString: strerror(errno))); "
                    + "choose another file (--log FILE)")
        }
        self.path = path
        self.descriptor = descriptor
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(hasBytes, nil)
        pthread_cond_init(hasRoom, nil)
        do {
            thread = try PlatformThread.start(name: "mock-log") { [unowned self] in writeAll() }
        } catch {
            throw MockError("cannot start the log's thread: \(error)")
        }
    }

    deinit {
        close()
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(hasBytes)
        pthread_cond_destroy(hasRoom)
        mutex.deallocate()
        hasBytes.deallocate()
        hasRoom.deallocate()
        filling.deallocate()
        writing.deallocate()
        Glibc.close(descriptor)
    }

    /// Takes whole lines, at most 64 KiB at once; waits while there is no room for them.
    func append(_ lines: UnsafeRawBufferPointer) {
        precondition(lines.count <= Self.bufferBytes)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while Self.bufferBytes - filled < lines.count, errorNumber == 0 {
            pthread_cond_wait(hasRoom, mutex)
        }
        guard errorNumber == 0 else { return }
        UnsafeMutableRawBufferPointer(rebasing: filling[filled...]).copyMemory(from: lines)
        filled += lines.count
        pthread_cond_signal(hasBytes)
    }

    /// Writes what is left and ends the thread. Idempotent.
    func close() {
        pthread_mutex_lock(mutex)
        isClosing = true
        pthread_cond_signal(hasBytes)
        pthread_mutex_unlock(mutex)
        thread?.join()
    }

    /// Why lines were lost; nil while none was.
    var failure: String? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard errorNumber != 0 else { return nil }
        return "the log \(path) is incomplete: \(String(cString: strerror(errorNumber)))"
    }

    /// The writer's thread.
    private func writeAll() {
        while let bytes = takeFilled() {
            let code = write(bytes)
            guard code != 0 else { continue }
            pthread_mutex_lock(mutex)
            errorNumber = code
            pthread_cond_broadcast(hasRoom)
            pthread_mutex_unlock(mutex)
            return
        }
    }

    /// Waits for bytes and swaps the buffers; nil at the end.
    private func takeFilled() -> UnsafeRawBufferPointer? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while filled == 0, !isClosing { pthread_cond_wait(hasBytes, mutex) }
        guard filled > 0 else { return nil }
        swap(&filling, &writing)
        defer { filled = 0 }
        pthread_cond_broadcast(hasRoom)
        return UnsafeRawBufferPointer(rebasing: writing[..<filled])
    }

    /// Returns 0, or the error's number.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor, part.baseAddress, part.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
