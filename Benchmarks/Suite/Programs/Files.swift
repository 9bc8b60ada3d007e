internal import Glibc

/// The project's folder.
let projectRoot: String = {
    let parts = #filePath.split(separator: "/").dropLast(4)
    return "/" + parts.joined(separator: "/")
}()

/// The bytes of a file; none when it cannot be read.
func bytesOfFile(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&block, 1, block.count, file), count > 0 {
        bytes += block[..<count]
    }
    return bytes
}

func textFile(_ path: String) -> String { String(decoding: bytesOfFile(path), as: UTF8.self) }

func writeFile(_ path: String, _ bytes: some Sequence<UInt8>) throws(Failure) {
    let bytes = Array(bytes)
    guard let file = fopen(path, "w") else { throw Failure("cannot write \(path)") }
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count else { throw Failure("cannot write \(path)") }
}

func writeFile(_ path: String, _ text: String) throws(Failure) {
    try writeFile(path, text.utf8)
}

func sizeOfFile(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// The names in a folder, sorted.
func filesIn(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
}

/// Where a program is; servers live in sbin, which a user's PATH often leaves out.
func findProgram(_ name: String) -> String? {
    if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
    let path = (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/sbin:/sbin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}

/// A folder for a run's files, which goes when the object goes.
final class WorkFolder {
    let path: String
    private var logCount = 0

    init() throws(Failure) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/peal-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                "cannot make a folder in \(parent); set TMPDIR to one that can be written")
        }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { remove(path) }

    /// A new path without ending for a program's logs.
    func newLogs(_ name: String) -> String {
        logCount += 1
        return "\(path)/\(name)-\(logCount)"
    }

    func makeFolder(_ name: String) -> String {
        let made = "\(path)/\(name)"
        mkdir(made, 0o700)
        return made
    }

    func remove(_ path: String) {
        _ = try? ChildProcess(["rm", "-rf", path], logs: nil).wait()
    }
}

func removeFile(_ path: String) { unlink(path) }
