internal import EventLoop

/// A server's URL that cannot be used.
package struct EndpointError: Error, CustomStringConvertible, Sendable, Equatable {
    package let url: String
    package let text: String

    package var description: String {
        "\"\(url)\" is no server URL: \(text); write https://HOST or https://HOST:PORT"
    }
}

/// Where a server is: a host name or numeric address, and a port.
package struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    /// Without brackets, as typed otherwise.
    package let host: String
    package let port: UInt16
    /// Another port by which the same server can be reached, for a client that `port` does not let
    /// in; nil: none is known. No part of the text forms.
    package let alternatePort: UInt16?

    package init(host: String, port: UInt16, alternatePort: UInt16? = nil) {
        self.host = host
        self.port = port
        self.alternatePort = alternatePort
    }

    /// Reads `https://host[:port]` with an optional `/` at the end; an IPv6 address stands in
    /// brackets; without a port it is 443.
    package static func parse(url: String) throws(EndpointError) -> Endpoint {
        func refused(_ text: String) -> EndpointError { EndpointError(url: url, text: text) }
        guard url.lowercased().hasPrefix("https://") else {
            throw refused("it does not begin with https://")
        }
        var rest = url.dropFirst("https://".count)
        if rest.last == "/" { rest.removeLast() }
        let host: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { throw refused("a ] is missing") }
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            guard SocketAddress.parse(numericHost: String(host), port: 0)?.description.first == "["
            else { throw refused("between the brackets stands no IPv6 address") }
        } else {
            let end = rest.firstIndex(of: ":") ?? rest.endIndex
            host = rest[..<end]
            rest = rest[end...]
            guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(isHostByte) else {
                throw refused("the host is not a name or an address (IPv6 stands in brackets)")
            }
        }
        return Endpoint(host: String(host), port: try port(of: rest, refused))
    }

    /// True for "localhost" and for numeric loopback addresses; names are not looked up.
    package var isLoopback: Bool {
        let name = host.lowercased()
        return name == "localhost" || name == "localhost."
            || SocketAddress.parse(numericHost: host, port: port)?.isLoopback == true
    }

    /// The value of `:authority`: "host" for 443, "host:port" otherwise.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    /// The URL with its port.
    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "https://\(name):\(port)"
    }

    private static func port(
        of rest: Substring, _ refused: (String) -> EndpointError
    ) throws(EndpointError) -> UInt16 {
        if rest.isEmpty { return 443 }
        guard rest.first == ":" else { throw refused("after the host comes more than a port") }
        let digits = rest.dropFirst()
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits),
            port > 0
        else { throw refused("the port is not a number from 1 to 65535") }
        return port
    }

    /// Letters, digits, hyphen, dot, underscore: what host names are made of in practice.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
