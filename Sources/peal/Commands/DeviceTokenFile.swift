import Glibc

/// Where a simulated phone keeps its token between its starts: `devices/NAME/TOPIC` in Peal's state
/// folder, one line. Who runs the phone holds a lock on it.
///
/// *Ownership*: the descriptor is this object's.
final class DeviceTokenFile {
    private static let nameBytesMax = 64
    private static let topicBytesMax = 255
    /// A token of a local APNs and its line feed.
    private static let tokenCharacters = 64

    private let path: String
    private let descriptor: Int32

    /// Opens the file, makes it where it is missing, and takes its lock.
    ///
    /// *Errors*: names that are no file names, a folder that cannot be written, a phone that runs.
    init(name: String, topic: String) throws(CommandFailure) {
        path = try Self.path(name: name, topic: topic)
        try StatePath.create(String(path.dropLast(topic.count + 1)))
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.refusal(path, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .refused(
                "the device '\(name)' is already running for \(topic): "
                    + "stop it, or give this one another --name")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The token of the last start; nil when there is none.
    func read() -> String? { Self.token(in: descriptor) }

    /// Keeps `token` for the next start.
    func write(_ token: String) throws(CommandFailure) {
        let line = Array((token + "\n").utf8)
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, line, line.count, 0) == line.count
        else { throw Self.refusal(path, errno) }
    }

    /// The token of a phone that may be running; nil when there is none.
    static func token(name: String, topic: String) throws(CommandFailure) -> String? {
        let descriptor = open(try path(name: name, topic: topic), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return token(in: descriptor)
    }

    /// Forgets the token of a phone.
    static func remove(name: String, topic: String) throws(CommandFailure) {
        unlink(try path(name: name, topic: topic))
    }

    private static func token(in descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: tokenCharacters)
        guard pread(descriptor, &bytes, bytes.count, 0) == tokenCharacters else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.allSatisfy { isxdigit(Int32($0)) != 0 } ? text : nil
    }

    private static func path(name: String, topic: String) throws(CommandFailure) -> String {
        try check(name: name, topic: topic)
        return try StatePath.folder("devices") + "/\(name)/\(topic)"
    }

    /// Refuses what cannot be part of the path.
    static func check(name: String, topic: String) throws(CommandFailure) {
        guard isFileName(name, bytesMax: nameBytesMax) else {
            throw .refused("--name '\(name)' is no name: use up to 64 letters, digits, . _ -")
        }
        guard isFileName(topic, bytesMax: topicBytesMax) else {
            throw .refused(
                "--topic '\(topic)' is no topic: it is the bundle id of an app, as com.example.app")
        }
    }

    private static func isFileName(_ text: String, bytesMax: Int) -> Bool {
        (1...bytesMax).contains(text.utf8.count) && text.first != "."
            && text.utf8.allSatisfy { isalnum(Int32($0)) != 0 || "._-".utf8.contains($0) }
    }

    private static func refusal(_ path: String, _ code: Int32) -> CommandFailure {
        .refused("\(path): \(String(cString: strerror(code))); check the file and its folder")
    }
}
