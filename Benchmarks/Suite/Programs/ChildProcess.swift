internal import Glibc

/// A program that is run and measured: its output in files, its processor time from the system.
final class ChildProcess {
    /// What a program that has ended used.
    struct Usage {
        let status: Int32
        let userSeconds: Double
        let systemSeconds: Double
        let wallSeconds: Double

        var cpuSeconds: Double { userSeconds + systemSeconds }
    }

    let identifier: pid_t
    let arguments: [String]
    let outputPath: String
    let errorPath: String
    private let startNs: UInt64
    private var usage: Usage?

    /// Starts a program, found by PATH.
    /// - Parameters:
    ///   - cores: as `taskset -c` takes them; nil: any.
    ///   - environment: added to this process's.
    ///   - logs: path without ending of the files for its standard output and error; nil: none.
    init(
        _ arguments: [String], cores: String? = nil, environment: [String: String] = [:],
        folder: String? = nil, logs: String?
    ) throws(Failure) {
        self.arguments = arguments
        outputPath = logs.map { $0 + ".out" } ?? "/dev/null"
        errorPath = logs.map { $0 + ".err" } ?? "/dev/null"
        var command = cores.map { ["taskset", "-c", $0] } ?? []
        // The benchmark's own preloaded counter is no business of what it measures.
        command += ["env", "-u", "LD_PRELOAD"] + (folder.map { ["-C", $0] } ?? [])
        command += environment.map { "\($0.key)=\($0.value)" } + arguments
        let descriptors = [
            open("/dev/null", O_RDONLY | O_CLOEXEC),
            open(outputPath, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600),
            open(errorPath, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600),
        ]
        defer { for descriptor in descriptors { close(descriptor) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (index, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(index))
        }
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var started: pid_t = 0
        startNs = monotonicNs()
        let code = posix_spawnp(&started, command[0], &actions, nil, &words, environ)
        guard code == 0 else {
            throw Failure("cannot start \(command[0]): \(String(cString: strerror(code)))")
        }
        identifier = started
    }

    deinit {
        if usage == nil {
            kill(identifier, SIGKILL)
            _ = wait()
        }
    }

    /// Waits for the end.
    func wait() -> Usage {
        if let usage { return usage }
        var status: Int32 = 0
        var resources = rusage()
        while wait4(identifier, &status, 0, &resources) < 0, errno == EINTR {}
        let made = Usage(
            status: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F),
            userSeconds: Self.seconds(resources.ru_utime),
            systemSeconds: Self.seconds(resources.ru_stime),
            wallSeconds: Double(monotonicNs() - startNs) / 1e9)
        usage = made
        return made
    }

    /// Waits for the end, which must be a success (or one of `statuses`).
    @discardableResult
    func waitForSuccess(_ statuses: Set<Int32> = [0]) throws(Failure) -> Usage {
        let usage = wait()
        guard statuses.contains(usage.status) else {
            throw Failure(
                """
                '\(arguments.joined(separator: " "))' ended with status \(usage.status):
                \(String(textFile(errorPath).suffix(2000)))
                """)
        }
        return usage
    }

    var isRunning: Bool {
        if usage != nil { return false }
        var info = siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        return waitid(P_PID, id_t(identifier), &info, options) == 0 && info.si_signo == 0
    }

    func signal(_ number: Int32) { if usage == nil { kill(identifier, number) } }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}

/// Runs a program to its end and returns what it printed.
func outputOf(
    _ arguments: [String], environment: [String: String] = [:], logs: String
) throws(Failure) -> String {
    let child = try ChildProcess(arguments, environment: environment, logs: logs)
    try child.waitForSuccess()
    return textFile(child.outputPath)
}

/// The processor time that a running process has used, all threads, in seconds.
///
/// From `/proc`: of each thread the nanoseconds (schedstat), where the kernel counts them, else the
/// clock ticks of the process. Threads that have ended are not in the first; servers end none.
func cpuSeconds(ofProcess identifier: pid_t) -> Double {
    let folder = "/proc/\(identifier)"
    let threads = filesIn("\(folder)/task")
    let ns = threads.compactMap { thread in
        textFile("\(folder)/task/\(thread)/schedstat").split(separator: " ").first
            .flatMap { Double($0) }
    }
    if !ns.isEmpty { return ns.reduce(0, +) / 1e9 }
    // The name may hold blanks, so fields are counted from behind its ")".
    let fields = textFile("\(folder)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
        return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
}
