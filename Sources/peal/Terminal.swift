import Glibc

/// The process's standard streams. Text for people goes to standard error; standard output holds
/// what was asked for and nothing else.
enum Terminal {
    /// Writes `text` to standard output. *Returns* false when not all of it could be written.
    @discardableResult
    static func standardOutput(_ text: String) -> Bool {
        write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Writes `bytes` to standard output. *Returns* false when not all of them could be written.
    static func standardOutput(_ bytes: [UInt8]) -> Bool { write(bytes, to: STDOUT_FILENO) }

    /// Writes `text` to standard error. That it cannot be written is nothing that could be told.
    static func standardError(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// Whether someone watches standard error.
    static var showsStandardError: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether someone can be asked: standard input and standard error are terminals.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && showsStandardError }

    /// The width of the terminal behind standard error; 80 when it does not say.
    static var columns: Int { columns(of: STDERR_FILENO) }

    /// The width of the terminal behind standard output; 80 when it does not say, or is none.
    static var outputColumns: Int { columns(of: STDOUT_FILENO) }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Asks on standard error and reads one line of standard input. Only "y" and "yes" agree.
    static func asksYes(_ question: String) -> Bool {
        standardError(question + " [y/N] ")
        let answer = readLine(strippingNewline: true) ?? ""
        return ["y", "yes"].contains(answer.lowercased())
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
