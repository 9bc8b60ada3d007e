internal import Glibc

/// Files of a run folder that are read whole.
enum SmallFile {
    /// Over the largest: the chunk list of 2³² rows in a run whose rows came in full chunks.
    private static let bytesMax = 256 << 20

    /// Nil when there is no such file.
    static func readIfThere(_ path: String) throws(SendError) -> [UInt8]? {
        access(path, F_OK) != 0 && errno == ENOENT ? nil : try read(path)
    }

    /// - Throws: kind `.refused`, also for a file past 256 MiB.
    static func read(_ path: String) throws(SendError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(.refused, "open the file", path, code: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc::read(descriptor, &block, block.count)
            if count == 0 { return bytes }
            if count < 0 && errno == EINTR { continue }
            let code = count < 0 ? errno : EFBIG
            guard count > 0, bytes.count + count <= bytesMax else {
                throw .file(.refused, "read the file", path, code: code)
            }
            bytes += block[..<count]
        }
    }
}
