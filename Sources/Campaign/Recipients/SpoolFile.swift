internal import Glibc

/// The copy of standard input in a run folder, so that a run can be resumed.
///
/// It holds whole records only: what a failing write left of one is cut off again. When a run goes
/// on and the same input comes again from its start, its bytes are compared with the copy as far
/// as that reaches, and appended from there.
///
/// *Thread*: the reader's; ``sync()`` any.
package final class SpoolFile: @unchecked Sendable {  // `sync` uses but the constant descriptor
    private let path: String
    private let descriptor: Int32  // owned
    /// Bytes that were here before, of which `comparedBytes` have come again.
    private let earlierBytes: Int
    private var comparedBytes = 0
    private var writtenBytes: Int

    /// Creates the file, for its owner alone (device tokens are personal data).
    /// *Errors*: also when the file exists, because a spool belongs to one run.
    package convenience init(creating path: String) throws(RecipientsError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            throw RecipientsError(
                .refused, file: path,
                message: "the copy of standard input cannot be created: \(systemText(code))",
                remedy: code == EEXIST
                    ? "give the run a new folder" : "check the run folder and its permissions")
        }
        self.init(path, owning: descriptor, earlierBytes: 0)
    }

    /// Opens the copy that an earlier start has made of the same input.
    package convenience init(resuming path: String) throws(RecipientsError) {
        let descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC)
        let bytes = descriptor < 0 ? -1 : lseek(descriptor, 0, SEEK_END)
        guard bytes >= 0 else {
            throw RecipientsError(
                .refused, file: path,
                message: "the copy of standard input cannot be opened: \(systemText(errno))",
                remedy: "restore the run folder, or start a new run")
        }
        self.init(path, owning: descriptor, earlierBytes: Int(bytes))
    }

    private init(_ path: String, owning descriptor: Int32, earlierBytes: Int) {
        self.path = path
        self.descriptor = descriptor
        self.earlierBytes = earlierBytes
        writtenBytes = earlierBytes
    }

    deinit { close(descriptor) }

    /// Takes the next bytes of the input; returns when the system has all of them.
    func append(_ bytes: UnsafeRawBufferPointer) throws(RecipientsError) {
        let known = min(bytes.count, earlierBytes - comparedBytes)
        try compare(UnsafeRawBufferPointer(rebasing: bytes[..<known]))
        var rest = bytes[known...]
        while !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest)
            let count = write(descriptor, chunk.baseAddress, chunk.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                let code = count == 0 ? ENOSPC : errno
                // Best effort: it holds whole records again.
                _ = ftruncate(descriptor, off_t(writtenBytes))
                throw failed("cannot be written", code)
            }
        }
        writtenBytes += bytes.count - known
    }

    /// Checks that an input that ends now is not shorter than its copy.
    func endInput() throws(RecipientsError) {
        guard comparedBytes < earlierBytes else { return }
        throw other("it ends after \(comparedBytes) bytes, and its copy has \(earlierBytes)")
    }

    /// Brings what was appended to the disk. Takes as long as the disk does.
    package func sync() throws(RecipientsError) {
        guard fdatasync(descriptor) == 0 else { throw failed("cannot be synced", errno) }
    }

    private func compare(_ bytes: UnsafeRawBufferPointer) throws(RecipientsError) {
        var offset = 0
        var block = [UInt8](repeating: 0, count: min(bytes.count, 65_536))
        while offset < bytes.count {
            let wanted = min(block.count, bytes.count - offset)
            let count = pread(descriptor, &block, wanted, off_t(comparedBytes + offset))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failed("cannot be read", count < 0 ? errno : EIO) }
            if let at = (0..<count).first(where: { block[$0] != bytes[offset + $0] }) {
                throw other("it differs after \(comparedBytes + offset + at) bytes")
            }
            offset += count
        }
        comparedBytes += bytes.count
    }

    private func other(_ how: String) -> RecipientsError {
        RecipientsError(
            .stopped, file: "standard input",
            message: "this is not what the run was started with: compared with \(path), \(how)",
            remedy: "give it the same rows from their start, or leave --recipients out: then what "
                + "was copied is sent")
    }

    private func failed(_ what: String, _ code: Int32) -> RecipientsError {
        let isFull = code == ENOSPC || code == EDQUOT || code == EFBIG
        return RecipientsError(
            .stopped, file: path,
            message: "the copy of standard input \(what): \(systemText(code))",
            remedy: isFull
                ? "free space on this disk, then resume the run" : "check the disk, then resume")
    }
}

/// The system's words for an errno value.
func systemText(_ code: Int32) -> String { String(cString: strerror(code)) }
