/// An HTTP/2 error code (RFC 9113, section 7). Unknown numbers stay representable.
package struct HTTP2ErrorCode: RawRepresentable, Sendable, Equatable, Hashable,
    CustomStringConvertible
{
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = Self(rawValue: 0)
    package static let protocolError = Self(rawValue: 1)
    package static let internalError = Self(rawValue: 2)
    package static let flowControlError = Self(rawValue: 3)
    package static let settingsTimeout = Self(rawValue: 4)
    package static let streamClosed = Self(rawValue: 5)
    package static let frameSizeError = Self(rawValue: 6)
    package static let refusedStream = Self(rawValue: 7)
    package static let cancel = Self(rawValue: 8)
    package static let compressionError = Self(rawValue: 9)
    package static let connectError = Self(rawValue: 10)
    package static let enhanceYourCalm = Self(rawValue: 11)
    package static let inadequateSecurity = Self(rawValue: 12)
    package static let http11Required = Self(rawValue: 13)

    private static let names: [StaticString] = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
        "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The RFC's name and the number, as in "REFUSED_STREAM (7)"; "unknown code (99)" otherwise.
    package var description: String {
        guard rawValue < Self.names.count else { return "unknown code (\(rawValue))" }
        return "\(Self.names[Int(rawValue)]) (\(rawValue))"
    }
}

/// Why a connection cannot go on: what was wrong with what the peer sent, or with our use of it.
package struct HTTP2Error: Error, Sendable, Equatable, CustomStringConvertible {
    /// The code that the peer is told in GOAWAY.
    package let code: HTTP2ErrorCode
    /// What was wrong, in words.
    package let message: String

    package init(code: HTTP2ErrorCode, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "HTTP/2 connection error: \(message), \(code)" }
}
