internal import Glibc

/// The file or descriptor that recipients come from. *Thread*: reader thread only.
final class RecipientInput {
    /// For messages: the path as it was given, or "standard input".
    let name: String
    /// Size of a regular file in bytes; nil for a pipe, a terminal, a device.
    let bytesTotal: UInt64?
    private let descriptor: Int32
    private let isOwned: Bool
    private let cancellation: ReadCancellation

    enum Wait { case ready, timedOut, cancelled }

    /// *Ownership*: `descriptor` stays the caller's; without one, `path` is opened ("-" is
    /// descriptor 0).
    init(
        path: String, descriptor given: Int32?, cancellation: ReadCancellation
    ) throws(RecipientsError) {
        name = path == "-" ? "standard input" : path
        self.cancellation = cancellation
        isOwned = given == nil && path != "-"
        descriptor = given ?? (path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY))
        var status = stat()
        let code = descriptor < 0 || fstat(descriptor, &status) != 0 ? errno : 0
        let kind = status.st_mode & S_IFMT
        bytesTotal = code == 0 && kind == S_IFREG ? UInt64(status.st_size) : nil
        if code != 0 { throw Self.cannotOpen(name, code) }
        if kind == S_IFDIR {
            throw RecipientsError(
                .refused, file: name, message: "this is a folder, not a recipients file",
                remedy: "name the file inside it")
        }
        // Best effort: a larger read-ahead for what is read from front to end.
        if kind == S_IFREG { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    var isCancelled: Bool { cancellation.isCancelled }

    /// Waits until there is something to read (or the end of it), at most so many milliseconds; -1
    /// is for ever. A regular file is always ready.
    func wait(atMostMs timeoutMs: Int32) throws(RecipientsError) -> Wait {
        if cancellation.isCancelled { return .cancelled }
        if bytesTotal != nil { return .ready }
        var polled = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)
        )
        let count = withUnsafeMutableBytes(of: &polled) {
            poll($0.baseAddress!.assumingMemoryBound(to: pollfd.self), 2, timeoutMs)
        }
        if count < 0 {
            // A signal: the caller's loop comes back, with what is left of its time.
            guard errno == EINTR else { throw cannotRead(errno) }
            return .timedOut
        }
        if cancellation.isCancelled { return .cancelled }
        return polled.0.revents != 0 ? .ready : .timedOut
    }

    /// Reads once; 0 is the end of the input, nil "nothing yet" (an interrupted read, or another
    /// reader of the same pipe was faster).
    func read(into room: UnsafeMutableRawBufferPointer) throws(RecipientsError) -> Int? {
        let count = Glibc::read(descriptor, room.baseAddress, room.count)
        if count >= 0 { return count }
        let code = errno
        guard code == EINTR || code == EAGAIN else { throw cannotRead(code) }
        return nil
    }

    private func cannotRead(_ code: Int32) -> RecipientsError {
        RecipientsError(
            .stopped, file: name, message: "reading broke off: \(systemText(code))",
            remedy: "check the disk or the program that writes the rows, then resume the run")
    }

    private static func cannotOpen(_ name: String, _ code: Int32) -> RecipientsError {
        let (message, remedy) =
            switch code {
            case ENOENT: ("there is no such file", "check the path")
            case EACCES, EPERM:
                ("the file may not be read", "give this user the permission to read it")
            case EBADF: ("it is closed", "redirect a file or a pipe to it")
            default: ("the file cannot be opened: \(systemText(code))", "check the path")
            }
        return RecipientsError(.refused, file: name, message: message, remedy: remedy)
    }
}
