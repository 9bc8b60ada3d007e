package import EventLoop

/// Which servers a load test may be pointed at. It can take a server down, so it goes to this
/// machine alone unless its owner says otherwise, and never to Apple.
package struct LoadTarget: Sendable {
    /// Whoever started the test says that the server is theirs.
    package let isOwned: Bool

    package init(isOwned: Bool) { self.isOwned = isOwned }

    /// Why a host may not be used, by its name alone; nil when its addresses decide.
    package func refusal(host: String) -> String? {
        Self.isApples(host)
            ? "\(host) belongs to Apple: a load test never goes there, whatever the options say"
            : nil
    }

    /// Why an address may not be used; nil when it may. Every address of the host is asked for, at
    /// every connection: what a name leads to can change.
    package func refusal(address: SocketAddress) -> String? {
        if Self.isApples(address) {
            return "\(address.numericHost) is in a network of Apple's: a load test never goes "
                + "there, whatever the options say"
        }
        if isOwned || address.isLoopback { return nil }
        return "\(address.numericHost) is not this machine, and a load test can take a server "
            + "down: if this one is yours, add --i-own-this-server"
    }

    /// Apple's domain, and the name that its push hosts are an alias of.
    private static func isApples(_ host: String) -> Bool {
        var name = host.lowercased()[...]
        while name.hasSuffix(".") { name.removeLast() }
        return name == "apple.com" || name.hasSuffix(".apple.com") || name.contains("push-apple")
    }

    /// 17.0.0.0/8 is all Apple's; the IPv6 networks are those that Apple names for APNs.
    private static func isApples(_ address: SocketAddress) -> Bool {
        let bytes = address.bytes
        if bytes.count == 4 { return bytes[0] == 17 }
        // IPv4 within IPv6: mapped, compatible, and behind the well-known translator's prefix.
        let isMapped = bytes.starts(with: [UInt8](repeating: 0, count: 10) + [255, 255])
        let isCompatible = bytes.starts(with: [UInt8](repeating: 0, count: 12))
        let isTranslated = bytes.starts(
            with: [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8))
        if isMapped || isCompatible || isTranslated { return bytes[12] == 17 }
        return networks.contains { bytes.starts(with: $0) }
    }

    /// 2620:149:a44::/48, 2403:300:a42::/48, 2403:300:a51::/48, 2a01:b740:a42::/48.
    private static let networks: [[UInt8]] = [
        [0x26, 0x20, 0x01, 0x49, 0x0A, 0x44], [0x24, 0x03, 0x03, 0x00, 0x0A, 0x42],
        [0x24, 0x03, 0x03, 0x00, 0x0A, 0x51], [0x2A, 0x01, 0xB7, 0x40, 0x0A, 0x42],
    ]
}

extension SocketAddress {
    /// The 4 or 16 bytes of the address itself.
    fileprivate var bytes: [UInt8] {
        withSockaddr { pointer, length in
            let all = UnsafeRawBufferPointer(start: pointer, count: Int(length))
            // sockaddr_in has the address at 4, sockaddr_in6 at 8.
            return length >= 24 ? Array(all[8..<24]) : Array(all[4..<8])
        }
    }
}
