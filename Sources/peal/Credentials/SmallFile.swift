import Glibc

/// Files that are read whole: keys, public keys, faults.
enum SmallFile {
    /// A key file has a few hundred bytes; whatever is larger is another file.
    static let bytesMax = 64 << 10

    /// Whether `path` is there.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether others than its owner may read `path`.
    static func isReadableByOthers(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & 0o044 != 0
    }

    /// Whether `path` is a folder.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The content of `path`.
    ///
    /// *Errors*: a refusal that names the file, the cause and a remedy.
    static func read(
        _ path: String,
        tooLarge: String = "a key file: name the p8 file that Apple gave out"
    ) throws(CommandFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= bytesMax {
            let count = Glibc.read(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw refusal(path, errno) }
            if count == 0 { return bytes }
            bytes += block[..<count]
        }
        throw .refused("\(path) is too large for \(tooLarge)")
    }

    /// Writes a new file that only this user can read: the whole of it or nothing, and never over
    /// another. *Returns* false when there is one already.
    static func create(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) -> Bool {
        var temporary = Array((path + ".XXXXXX").utf8CString)
        let descriptor = mkstemp(&temporary)  // with mode 0600
        guard descriptor >= 0 else { throw refusal(path, errno) }
        defer { unlink(temporary) }
        let written = write(descriptor, bytes, bytes.count)
        let code = errno
        guard close(descriptor) == 0, written == bytes.count else { throw refusal(path, code) }
        if link(temporary, path) == 0 { return true }
        guard errno == EEXIST else { throw refusal(path, errno) }
        return false
    }

    private static func refusal(_ path: String, _ code: Int32) -> CommandFailure {
        let remedy =
            switch code {
            case ENOENT: "check the name"
            case EACCES, EPERM: "let this user read and write it (chmod, chown)"
            case EISDIR: "name a file in it"
            case ENOSPC, EDQUOT: "free some space"
            default: "check the file and its folder"
            }
        return .refused("\(path): \(String(cString: strerror(code))); \(remedy)")
    }
}
