internal import Glibc

/// Small files of the state folder: read whole, written by rename.
enum StateFile {
    /// A PEM file is a few kilobytes; anything near this is something else.
    private static let bytesMax = 1 << 20

    /// The whole file; nil when there is none.
    static func read(_ path: String) throws(MockError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", path, errno)
        }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc::read(descriptor, &block, block.count)
            if count == 0 { return content }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("read", path, errno)
            }
            content += block[..<count]
            if content.count > bytesMax { throw failure("read", path, EFBIG) }
        }
    }

    /// Puts `bytes` at `path` with mode 0600: the old file or the new one is there, never a part.
    static func write(_ bytes: [UInt8], to path: String) throws(MockError) {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("write", temporary, errno) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc::write(descriptor, $0.baseAddress! + written, $0.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                let code = errno
                close(descriptor)
                throw failure("write", temporary, code)
            }
            written += count
        }
        close(descriptor)
        guard rename(temporary, path) == 0 else { throw failure("write", path, errno) }
    }

    private static func failure(_ verb: String, _ path: String, _ code: Int32) -> MockError {
        MockError(
            "cannot \(verb) \(path): \(errnoText(code)); check the folder's owner and the disk, "
                + "or give another folder with --state")
    }
}

/// The system's text for an error number.
func errnoText(_ code: Int32) -> String {
    String(cString: strerror(code))
}

/// Runs `body` while no other process, and no other thread of this one, does the same for `folder`.
///
/// A `flock` on the file `lock` in it: the kernel lets go when the process ends, however it ends.
/// It waits without limit; what others do meanwhile takes milliseconds.
func withFolderLocked<Result>(
    _ folder: String, _ body: () throws(MockError) -> Result
) throws(MockError) -> Result {
    let descriptor = open(folder + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw lockFailure(folder, errno) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
        if errno != EINTR { throw lockFailure(folder, errno) }
    }
    return try body()
}

private func lockFailure(_ folder: String, _ code: Int32) -> MockError {
    MockError(
        "cannot lock the state folder \(folder): \(errnoText(code)); check its owner, "
            + "or give another folder with --state")
}
