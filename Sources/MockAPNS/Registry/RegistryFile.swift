internal import Glibc
internal import JSON

/// The registry with which a local APNs starts: the keys of its options and a JSON5 file.
enum RegistryFile {
    /// A hundred thousand tokens with their topics; reading takes about ten times as much memory.
    private static let bytesMax = 16 << 20
    /// A key file has a few hundred bytes.
    private static let keyBytesMax = 64 << 10

    /// The registry that lies in the state folder; nil when none does.
    static func ownFile(in stateDirectory: String) -> String? {
        let file = stateDirectory + "/registry.json5"
        return access(file, F_OK) == 0 ? file : nil
    }

    /// Reads the file, if there is one. Key files are named relative to its folder.
    static func registry(
        file: String?, keys: [MockKey], clock: MockClock
    ) throws(MockError) -> Registry {
        var registry = Registry()
        registry.keys = keys.map { RegistryKey(id: $0.keyID, key: $0.key) }
        guard let file else { return registry }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        let reader = RegistryReader(
            readKeyFile: { (name) throws(MockError) in
                try read(name.hasPrefix("/") ? name : folder + name, bytesMax: keyBytesMax)
            }, nowMs: clock.wallSeconds() * 1000)
        let bytes = try read(file, bytesMax: bytesMax)
        do {
            try reader.merge(try JSONDocument.parse(bytes, dialect: .json5), into: &registry)
        } catch {
            throw MockError("the registry \(file):\(error)")
        }
        return registry
    }

    private static func read(_ path: String, bytesMax: Int) throws(MockError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while content.count <= bytesMax {
            let count = Glibc::read(descriptor, &block, block.count)
            if count == 0 { return content }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path, errno) }
            content += block[..<count]
        }
        throw MockError("\(path) is larger than \(bytesMax) bytes; name another file")
    }

    private static func failure(_ path: String, _ code: Int32) -> MockError {
        MockError("cannot read \(path): \(errnoText(code)); check the file's name and its owner")
    }
}
