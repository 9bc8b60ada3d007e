internal import Glibc

/// The bytes of a manifest and where they came from.
struct ManifestFile {
    /// A manifest holds a few payloads of 4 KiB; a file a thousand times that is another file.
    static let bytesMax = 4 << 20
    static let nameInFolder = "campaign.json"

    let path: String
    let bytes: [UInt8]

    /// Reads the manifest file `path`, or the one in the folder `path`.
    static func read(_ path: String) throws(CampaignError) -> ManifestFile {
        var status = stat()
        guard stat(path, &status) == 0 else { throw unreadable(path, errno) }
        if status.st_mode & S_IFMT != S_IFDIR { return try readFile(path) }
        let file = path.hasSuffix("/") ? path + nameInFolder : path + "/" + nameInFolder
        guard stat(file, &status) == 0 || errno != ENOENT else {
            throw CampaignError(
                file: path, message: "the folder holds no \(nameInFolder)",
                remedy: "name a campaign's folder or its manifest file")
        }
        return try readFile(file)
    }

    /// `name` as seen from the folder of the manifest.
    func resolve(_ name: String) -> String {
        if name.hasPrefix("/") { return name }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return name }
        return String(path[...slash]) + name
    }

    private static func readFile(_ path: String) throws(CampaignError) -> ManifestFile {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc::read(descriptor, &block, block.count)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw unreadable(path, errno)
            }
            bytes += block[..<count]
            if bytes.count > bytesMax {
                throw CampaignError(
                    file: path, message: "the file is larger than \(bytesMax >> 20) MiB",
                    remedy: "name a campaign's manifest; recipients belong in a file of their own")
            }
        }
        if bytes.isEmpty {
            throw CampaignError(
                file: path, message: "the file is empty", remedy: "write the campaign into it")
        }
        return ManifestFile(path: path, bytes: bytes)
    }

    private static func unreadable(_ path: String, _ code: Int32) -> CampaignError {
        let (message, remedy) =
            switch code {
            case ENOENT: ("there is no such file or folder", "check the path")
            case EACCES: ("the file may not be read", "give the user of this process access to it")
            case EISDIR: ("this is a folder and no file", "name the file in it")
            case ENOTDIR: ("a part of the path is no folder", "check the path")
            default:
                ("the file cannot be read: \(String(cString: strerror(code)))", "check the file")
            }
        return CampaignError(file: path, message: message, remedy: remedy)
    }
}
