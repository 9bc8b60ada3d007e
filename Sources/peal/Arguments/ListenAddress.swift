/// The value of `--listen`.
enum ListenAddress {
    /// Splits `HOST:PORT`; an IPv6 address stands in brackets. The host is not looked at.
    static func parse(_ text: String) throws(CommandFailure) -> (host: String, port: UInt16) {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let port = UInt16(text[text.index(after: colon)...])
        else {
            throw .refused(
                "--listen '\(text)' is not HOST:PORT: write 127.0.0.1:2197, or [::1]:2197")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return (String(host), port)
    }
}
