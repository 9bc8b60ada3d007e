import APNS
import Glibc
import MockAPNS

/// What a simulated phone shows: notifications on standard output, where it stands on standard
/// error.
final class DeviceScreen {
    /// Collapse ids of which it remembers that they were shown: as many as a screen is long.
    private static let collapseIDsMax = 256

    private let name: String
    private let topic: String
    private let server: String
    private let isJSON: Bool
    private let countMax: Int?

    private var token = ""
    private var shownCount = 0
    private var collapseIDs: [String] = []
    private var saidDisconnected = false
    /// A signal has ended it.
    var isInterrupted = false

    init(name: String, topic: String, server: String, isJSON: Bool, countMax: Int?) {
        self.name = name
        self.topic = topic
        self.server = server
        self.isJSON = isJSON
        self.countMax = countMax
    }

    /// It was to receive a number of notifications, and has not yet.
    var isWaiting: Bool { countMax.map { shownCount < $0 } ?? false }

    /// Shows an event; true when the phone has done what it was to do.
    func show(_ event: SimulatedDevice.Event) throws(CommandFailure) -> Bool {
        switch event {
        case .registered(let token):
            self.token = token
        case .connected:
            say("\(name) is connected to \(server) for \(topic), token \(shortened)")
            saidDisconnected = false
        case .notification(let line):
            guard isWaiting || countMax == nil else { return true }
            try show(line)
            return countMax != nil && !isWaiting
        case .disconnected(let why, _):
            // Once, and not for each of its tries.
            if !saidDisconnected { say("\(name) is not connected, and keeps trying: \(why)") }
            saidDisconnected = true
        case .unregistered:
            throw CommandFailure(
                .stopped, "\(name) was unregistered; start it again, and it gets another token")
        case .failed(let why):
            throw CommandFailure(.stopped, why)
        }
        return false
    }

    private func show(_ line: [UInt8]) throws(CommandFailure) {
        shownCount += 1
        let bytes =
            isJSON
            ? line + [UInt8(ascii: "\n")]
            : Array(
                NotificationText.render(
                    line, margin: Self.timeOfDay(), isReplacement: isReplacement(line)
                ).utf8)
        guard Terminal.standardOutput(bytes) else {
            throw CommandFailure(.internalError, "standard output takes no more")
        }
    }

    private func isReplacement(_ line: [UInt8]) -> Bool {
        guard let id = NotificationText.collapseID(line) else { return false }
        if collapseIDs.contains(id) { return true }
        if collapseIDs.count == Self.collapseIDsMax { collapseIDs.removeFirst() }
        collapseIDs.append(id)
        return false
    }

    /// Screens are looked at by many; the whole token is in the phone's file.
    private var shortened: String {
        Array(token.utf8).withUnsafeBytes { DeviceToken.shortened($0) }
    }

    private func say(_ text: String) { Terminal.standardError("peal device: \(text)\n") }

    /// "14:05:09", on this machine's clock.
    private static func timeOfDay() -> String {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec]
            .map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
    }
}
