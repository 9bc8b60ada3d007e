/// RFC 9113, section 6.9.1: no window is ever larger.
private let windowBytesMax = 0x7FFF_FFFF

/// What the peer lets us send: the connection's window, and what a stream's begins with.
///
/// A stream's own window is `initialBytes` and the difference that the stream has made since, so a
/// new initial size moves all streams at once. It may be negative (RFC 9113, section 6.9.2).
final class SendWindows {
    static let initialBytes = 65_535

    /// Body bytes that the connection as a whole may still send.
    private(set) var connectionBytes = SendWindows.initialBytes
    /// SETTINGS_INITIAL_WINDOW_SIZE.
    private(set) var initialBytes = SendWindows.initialBytes

    init() {}

    /// What a stream that has made this difference may send.
    func room(difference: Int) -> Int { min(connectionBytes, initialBytes + difference) }

    /// Body bytes were sent on some stream.
    func sent(_ byteCount: Int) { connectionBytes -= byteCount }

    /// The connection's window was opened further.
    func openConnection(by byteCount: Int) throws(HTTP2Error) {
        guard byteCount > 0 else { throw .protocolError("WINDOW_UPDATE of 0 bytes") }
        connectionBytes += byteCount
        guard connectionBytes <= windowBytesMax else {
            throw Self.overflow("the connection's window is opened beyond its limit")
        }
    }

    /// Whether a stream's window is within its limit once the stream has made such a difference.
    func allows(difference: Int) -> Bool { initialBytes + difference <= windowBytesMax }

    /// New streams begin with so much, and the open ones move along; `differenceMax` is the largest
    /// of theirs.
    func setInitial(_ byteCount: UInt32, differenceMax: Int) throws(HTTP2Error) {
        initialBytes = Int(byteCount)
        guard initialBytes <= windowBytesMax, allows(difference: differenceMax) else {
            throw Self.overflow("SETTINGS opens a stream's window beyond its limit")
        }
    }

    private static func overflow(_ message: String) -> HTTP2Error {
        HTTP2Error(code: .flowControlError, message: message)
    }
}

/// What we let the peer send, on a stream or on the connection as a whole: bytes that it has not
/// been given back.
///
/// Half a window is given back at a time, so that the peer is never held up for long and
/// WINDOW_UPDATE frames stay few.
struct ReceiveWindow {
    /// RFC 9113, section 6.5.2: what holds as long as nobody says otherwise.
    static let byteCount: Int32 = 65_535

    private(set) var usedBytes: Int32 = 0

    /// Bytes arrived, padding included; false when the peer had no right to send so many.
    mutating func take(_ byteCount: Int) -> Bool {
        usedBytes += Int32(byteCount)
        return usedBytes <= Self.byteCount
    }

    /// It is time for a WINDOW_UPDATE.
    var isHalfUsed: Bool { usedBytes > Self.byteCount / 2 }

    /// Gives all back, and says how much that is.
    mutating func giveBack() -> Int32 {
        defer { usedBytes = 0 }
        return usedBytes
    }
}
