internal import Glibc
internal import Synchronization

/// A file to which whole records are appended by plain `write` calls (mode 0600).
///
/// - Thread: several threads may append; each call's bytes stay together.
final class AppendFile: Sendable {
    let path: String
    private let descriptor: Int32
    /// The file's length, under the lock that appending takes: once per turn of a worker, seldom
    /// waited for.
    private let length: Mutex<off_t>

    init(path: String) throws(SendError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .file(.refused, "create the file", path, code: errno)
        }
        self.path = path
        self.descriptor = descriptor
        length = Mutex(lseek(descriptor, 0, SEEK_END))
    }

    deinit { close(descriptor) }

    /// Appends all of `bytes` or, when that fails, none: half a line would spoil the one after it.
    func append(_ bytes: UnsafeRawBufferPointer) throws(SendError) {
        try length.withLock { (length) throws(SendError) in
            var written = 0
            while written < bytes.count {
                let result = write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if result >= 0 {
                    written += result
                } else if errno != EINTR {
                    let code = errno
                    _ = ftruncate(descriptor, length)  // best effort: the disk fails already
                    throw .file(.stopped, "write to the file", path, code: code)
                }
            }
            length += off_t(written)
        }
    }

    /// Brings what was appended to the disk; takes as long as the disk does.
    func sync() throws(SendError) {
        guard fdatasync(descriptor) == 0 else {
            throw .file(.stopped, "write the file to disk", path, code: errno)
        }
    }

    func append(_ bytes: [UInt8]) throws(SendError) {
        var failure: SendError?
        bytes.withUnsafeBytes { raw in
            do throws(SendError) { try append(raw) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
