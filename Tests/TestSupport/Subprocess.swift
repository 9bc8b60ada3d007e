import Glibc

/// Programs that tests run: Peal itself, and clients and servers that Peal's authors did not write.
///
/// Made on `posix_spawn` and `waitpid`: Foundation's `Process` takes a program for running as long
/// as a child of it, such as a worker of nginx, still lives.
package enum Subprocess {
    /// What a program left behind.
    package struct Result: Sendable {
        /// The exit status, or 128 and the signal, as shells count.
        package let status: Int32
        package let outputBytes: [UInt8]
        package let errors: String

        package var output: String { String(decoding: outputBytes, as: UTF8.self) }

        /// Standard output and, after it, standard error.
        package var allText: String { output + errors }
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - arguments: the program, found by PATH, and its arguments.
    ///   - input: the bytes of its standard input, unless an `inputFile` is given.
    ///   - inputFile: a file for its standard input.
    ///   - folder: its current folder.
    ///   - environment: added to this process's.
    @discardableResult
    package static func run(
        _ arguments: [String], input bytes: [UInt8] = [], inputFile: String? = nil,
        in folder: String? = nil, environment: [String: String] = [:]
    ) throws -> Result {
        // Files and not pipes: however much a program writes, nobody waits for anybody.
        let files = TemporaryDirectory()
        let input = try openInput(inputFile ?? files.write(bytes, to: "input"))
        let output = open(files.path + "/output", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        let errors = open(files.path + "/errors", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        defer { for descriptor in [input, output, errors] { close(descriptor) } }
        let identifier = try start(
            arguments, input: input, output: output, errors: errors, in: folder,
            environment: environment)
        let status = wait(for: identifier)
        return Result(
            status: status, outputBytes: files.read("output") ?? [],
            errors: String(decoding: files.read("errors") ?? [], as: UTF8.self))
    }

    /// Runs `openssl`, which shares no code of ours and so can judge what we make.
    @discardableResult
    package static func openssl(_ arguments: String...) throws -> Result {
        try run(["openssl"] + arguments)
    }

    static func openInput(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(description: "\(path): errno \(errno)") }
        return descriptor
    }

    /// Starts a program with the descriptors given, and no others.
    static func start(
        _ arguments: [String], input: Int32, output: Int32, errors: Int32,
        in folder: String?, environment: [String: String]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)

        // Threads of a test runner block signals, and a program inherits that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        let command = (folder.map { ["env", "-C", $0] } ?? []) + arguments
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            environmentList(adding: environment).map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var identifier: pid_t = 0
        let code = posix_spawnp(&identifier, command[0], &actions, &attributes, &words, &variables)
        guard code == 0 else {
            throw Failure(
                description: "cannot run \(arguments[0]): \(String(cString: strerror(code))); "
                    + "tools/test installs what the tests need")
        }
        return identifier
    }

    static func wait(for identifier: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    private static func environmentList(adding more: [String: String]) -> [String] {
        var list: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let variable = String(cString: text)
            if more[String(variable.prefix { $0 != "=" })] == nil { list.append(variable) }
            entry += 1
        }
        return list + more.map { "\($0.key)=\($0.value)" }
    }
}

/// A program that runs beside the test: started, watched through its standard error, stopped.
package final class BackgroundProcess {
    package let identifier: Int32
    /// Owned: our end of the program's standard error.
    private let errors: Int32
    private var buffered: [UInt8] = []
    private var exitStatus: Int32?

    /// Starts a program; its standard output is dropped. Without an input file, its standard input
    /// is open and silent.
    package init(
        _ arguments: [String], inputFile: String? = nil, in folder: String? = nil,
        environment: [String: String] = [:]
    ) throws {
        var ends: [Int32] = [0, 0]
        // Not a pipe: only this call makes both ends close-on-exec before another test can start a
        // program.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Subprocess.Failure(description: "socketpair: errno \(errno)")
        }
        errors = ends[0]
        let input = try inputFile.map { try Subprocess.openInput($0) }
        let output = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer {
            if let input { close(input) }
            close(output)
            close(ends[1])
        }
        identifier = try Subprocess.start(
            arguments, input: input ?? ends[1], output: output, errors: ends[1], in: folder,
            environment: environment)
    }

    deinit {
        if exitStatus == nil {
            kill(identifier, SIGKILL)
            _ = Subprocess.wait(for: identifier)
        }
        close(errors)
    }

    /// Waits for the next line of standard error; nil when the program has closed it.
    package func nextErrorLine() -> String? {
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = buffered.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffered[..<end], as: UTF8.self)
                buffered.removeSubrange(...end)
                return line
            }
            let count = read(errors, &block, block.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 {
                defer { buffered = [] }
                return buffered.isEmpty ? nil : String(decoding: buffered, as: UTF8.self)
            }
            buffered += block[..<count]
        }
    }

    /// Waits for a line of standard error that holds `text`.
    package func waitForErrorLine(containing text: String) throws -> String {
        var lines: [String] = []
        while let line = nextErrorLine() {
            if line.contains(text) { return line }
            lines.append(line)
        }
        throw Subprocess.Failure(
            description: "the program ended without \"\(text)\": \(lines.joined(separator: "\n"))")
    }

    package func signal(_ number: Int32) { kill(identifier, number) }

    /// Waits for the end, and returns the exit status with the rest of standard error.
    package func wait() -> (status: Int32, errors: String) {
        var lines: [String] = []
        while let line = nextErrorLine() { lines.append(line) }
        let status = exitStatus ?? Subprocess.wait(for: identifier)
        exitStatus = status
        return (status, lines.joined(separator: "\n"))
    }
}
