internal import Glibc
internal import JSON

/// The folder of one run: created exclusively (0700), locked while in use, its files 0600, because
/// device tokens are personal data.
package final class RunFolder: Sendable {
    static let reportName = "report.html"

    package let path: String
    private let descriptor: Int32

    /// Creates `path` and the folders above it.
    ///
    /// - Throws: kind `.refused` when it exists already or cannot be created or locked.
    package convenience init(creating path: String) throws(SendError) {
        try Self.makeParents(of: path)
        guard mkdir(path, 0o700) == 0 else {
            throw .file(.refused, "create the run folder", path, code: errno)
        }
        try self.init(opening: path)
    }

    /// Opens the folder of a run that goes on, and locks it.
    ///
    /// - Throws: kind `.refused` when it is not there, or another process has it.
    init(opening path: String) throws(SendError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .file(.refused, "open the run folder", path, code: errno)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw SendError(
                .refused, "\(path): another process uses this run folder; wait until it has ended")
        }
        self.path = path
        self.descriptor = descriptor
    }

    /// Closing alone would leave the lock to a child process that is just being started.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The folder of a run that starts now: `runs/NAME/YYYYMMDDTHHMMSSZ` under the current folder;
    /// when that second's is taken, the next free second's.
    package static func defaultPath(campaign name: String) -> String {
        var time = Timestamp.now()
        while access("runs/\(name)/\(time.folderName)", F_OK) == 0 {
            time = Timestamp(milliseconds: time.milliseconds + 1000)
        }
        return "runs/\(name)/\(time.folderName)"
    }

    /// The newest run of the campaign under the current folder that has not completed; nil when
    /// there is none.
    package static func newestUnfinished(campaign name: String) -> String? {
        guard let folder = opendir("runs/\(name)") else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { text in
                    text.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.filter { !$0.hasPrefix(".") }.sorted(by: >).lazy
            .map { "runs/\(name)/\($0)" }
            .first { path in
                (try? RunRecord.read(path + "/run.json")).map { !$0.isCompleted } ?? false
            }
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// Removes the folder with the files of a run that was refused before it began.
    func remove() {
        let names = [
            "input", "campaign.json", "run.json", "chunks", "ledger", "duplicates", "suppressed",
            "failures.ndjson", "retries.ndjson", "connections.ndjson", ".campaign.json.new",
            ".run.json.new",
        ]
        for name in names { unlink(file(name)) }
        rmdir(path)
    }

    /// Removes a file that is of no more use; one that stays does no harm.
    func remove(_ name: String) { unlink(file(name)) }

    /// Writes a whole file so that a reader sees the old content or the new, never a part.
    ///
    /// - Parameter isSynced: whether a loss of power shows the old or the new, too. Takes as long
    ///   as the disk does.
    /// - Throws: kind `.stopped`; the old content is still there.
    func replace(
        _ name: String, with bytes: [UInt8], isSynced: Bool = false
    ) throws(SendError) {
        let temporary = file("." + name + ".new")
        unlink(temporary)
        do throws(SendError) {
            let handle = try AppendFile(path: temporary)
            try handle.append(bytes)
            if isSynced { try handle.sync() }
            guard rename(temporary, file(name)) == 0 else {
                throw .file(.stopped, "replace the file", file(name), code: errno)
            }
        } catch {
            unlink(temporary)
            throw SendError(.stopped, error.description)
        }
    }

    private static func makeParents(of path: String) throws(SendError) {
        var parent = ""
        for part in path.split(separator: "/").dropLast() {
            parent += parent.isEmpty && path.first != "/" ? String(part) : "/" + part
            if mkdir(parent, 0o700) != 0, errno != EEXIST {
                throw .file(.refused, "create the folder", parent, code: errno)
            }
        }
    }
}
