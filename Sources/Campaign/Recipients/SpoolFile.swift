internal import Glibc

/// The copy of standard input in a run folder, so that a run can be resumed.
///
/// It holds whole records only: what a failing write left of one is cut off again.
final class SpoolFile {
    private let path: String
    private let descriptor: Int32  // owned
    private var writtenBytes: Int = 0

    /// Creates the file, for its owner alone (device tokens are personal data).
    /// *Errors*: also when the file exists, because a spool belongs to one run.
    init(creating path: String) throws(RecipientsError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            throw RecipientsError(
                .refused, file: path,
                message: "the copy of standard input cannot be created: \(systemText(code))",
                remedy: code == EEXIST
                    ? "give the run a new folder" : "check the run folder and its permissions")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Appends the bytes; returns when the system has all of them.
    func append(_ bytes: UnsafeRawBufferPointer) throws(RecipientsError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest)
            let count = write(descriptor, chunk.baseAddress, chunk.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                throw failed("cannot be written", count == 0 ? ENOSPC : errno)
            }
        }
        writtenBytes += bytes.count
    }

    /// Brings what was appended to the disk. Takes as long as the disk does.
    func sync() throws(RecipientsError) {
        guard fdatasync(descriptor) == 0 else { throw failed("cannot be synced", errno) }
    }

    private func failed(_ what: String, _ code: Int32) -> RecipientsError {
        _ = ftruncate(descriptor, off_t(writtenBytes))  // best effort: it holds whole records again
        return RecipientsError(
            .stopped, file: path,
            message: "the copy of standard input \(what): \(systemText(code))",
            remedy: code == ENOSPC || code == EDQUOT
                ? "free space on this disk, then resume the run" : "check the disk, then resume")
    }
}

/// The system's words for an errno value.
func systemText(_ code: Int32) -> String { String(cString: strerror(code)) }
