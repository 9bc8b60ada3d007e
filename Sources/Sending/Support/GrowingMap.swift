internal import Glibc

/// A file that is mapped once, at its largest size, and grows in place on disk.
///
/// Mapping past the end of a file is allowed; touching a page there is not (SIGBUS). So every byte
/// is allocated on disk, with `posix_fallocate`, before anyone may touch it: a full disk is an
/// error of ``grow(toBytes:)`` and never a signal. The address never changes, so that workers keep
/// a plain pointer while the reader thread extends the file.
///
/// - Thread: ``grow(toBytes:)`` belongs to one thread at a time; ``sync()`` is for any; the bytes
///   may be used by any thread that learned of their existence afterwards.
/// - Limits: `capacityBytes` of address space, no memory until pages are touched.
final class GrowingMap: @unchecked Sendable {  // the base never changes; growth has one thread
    let path: String
    let base: UnsafeMutableRawPointer
    let capacityBytes: Int
    private let descriptor: Int32
    private(set) var fileBytes: Int

    /// Creates the file, or opens one that exists.
    init(path: String, capacityBytes: Int, exists: Bool = false) throws(SendError) {
        let flags = exists ? O_RDWR | O_CLOEXEC : O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw .file(.refused, exists ? "open the file" : "create the file", path, code: errno)
        }
        let mapped = mmap(
            nil, capacityBytes, PROT_READ | PROT_WRITE, MAP_SHARED | Int32(MAP_NORESERVE),
            descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else {
            let code = errno
            close(descriptor)
            throw .file(.refused, "map the file", path, code: code)
        }
        self.path = path
        self.fileBytes = max(0, Int(lseek(descriptor, 0, SEEK_END)))
        self.base = mapped
        self.capacityBytes = capacityBytes
        self.descriptor = descriptor
    }

    deinit {
        munmap(base, capacityBytes)
        close(descriptor)
    }

    /// Allocates the file on disk up to `bytes`; does nothing when it is that long already.
    func grow(toBytes bytes: Int) throws(SendError) {
        guard bytes > fileBytes else { return }
        guard bytes <= capacityBytes else {
            throw .file(.stopped, "extend the file to \(bytes) bytes", path, code: EFBIG)
        }
        let code = posix_fallocate(descriptor, off_t(fileBytes), off_t(bytes - fileBytes))
        guard code == 0 else {
            throw .file(.stopped, "extend the file to \(bytes) bytes", path, code: code)
        }
        fileBytes = bytes
    }

    /// Asks for pages of 2 MiB, for a file that is used all over: the processor finds addresses in
    /// few large pages faster. Where there are none, everything works as before.
    func preferLargePages() {
        _ = madvise(base, fileBytes, Int32(MADV_HUGEPAGE))
    }

    /// Writes all changed pages and waits for them.
    func sync() throws(SendError) {
        guard fdatasync(descriptor) == 0 else {
            throw .file(.stopped, "write the file to disk", path, code: errno)
        }
    }
}
