internal import APNS
internal import HTTP2

/// What a server says with its GOAWAY, for people.
extension GoAway {
    /// Characters of the server's text that are kept.
    static let reasonCharactersMax = 200

    /// The reason of APNs' JSON, or else what is printable of the text; empty when there is none.
    /// Untrusted: nothing in it can move a terminal's cursor or break a line.
    var reason: String {
        debugData.withUnsafeBytes { bytes in
            let found = bytes[Reasons.reason(inBody: bytes).reason]
            let text = String(decoding: found.isEmpty ? bytes[...] : found, as: UTF8.self)
            let printable = text.unicodeScalars.lazy.map { $0.isPrintable ? $0 : " " }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: printable.prefix(Self.reasonCharactersMax))
            return String(view).split(separator: " ").joined(separator: " ")
        }
    }

    /// As in "GOAWAY NO_ERROR (0): Shutdown".
    var text: String {
        let reason = reason
        return "GOAWAY \(errorCode)" + (reason.isEmpty ? "" : ": \(reason)")
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
