internal import Glibc

/// What a report has to say of the machine, the programs and the moment.
enum Machine {
    static func facts(_ options: Options, _ work: WorkFolder) -> [(key: String, value: String)] {
        func first(_ arguments: [String]) -> String {
            guard findProgram(arguments[0]) != nil,
                let child = try? ChildProcess(
                    [findProgram(arguments[0])!] + arguments.dropFirst(),
                    logs: work.newLogs("version"))
            else { return "not installed" }
            _ = child.wait()
            let text = textFile(child.outputPath) + textFile(child.errorPath)
            return String(text.split(separator: "\n").first ?? "")
        }
        let model =
            textFile("/proc/cpuinfo").split(separator: "\n")
            .first { $0.hasPrefix("model name") }?.split(separator: ":").last?.dropFirst() ?? "?"
        let system =
            textFile("/etc/os-release").split(separator: "\n")
            .first { $0.hasPrefix("PRETTY_NAME=") }?.split(separator: "\"").last ?? "?"
        let load = textFile("/proc/loadavg").split(separator: " ").first.map(String.init) ?? "?"
        return [
            ("processor", "\(model), \(coreCount) cores"),
            ("system", "\(system), kernel \(first(["uname", "-r"]))"),
            ("load at the start", load),
            ("date", first(["date", "-u", "+%Y-%m-%d %H:%M UTC"])),
            ("commit", first(["git", "-C", projectRoot, "describe", "--always", "--dirty"])),
            ("size", options.size == .full ? "full" : options.size == .quick ? "quick" : "tiny"),
            ("rounds", String(options.rounds)),
            ("swift", first(["swift", "--version"])),
            ("nghttp2", first(["pkg-config", "--modversion", "libnghttp2"])),
            ("openssl", first(["openssl", "version"])),
            ("libuv", first(["pkg-config", "--modversion", "libuv"])),
            ("haproxy", first(["haproxy", "-v"])),
            ("nginx", first(["nginx", "-v"])),
            ("h2load", first(["h2load", "--version"])),
            ("node", first(["node", "--version"])),
            (
                "aioapns",
                first([
                    projectRoot + "/.build/test-python/bin/python", "-c",
                    "import importlib.metadata as m; print(m.version('aioapns'))",
                ])
            ),
        ]
    }
}
