internal import CLibuv
internal import Glibc

/// An IPv4 or IPv6 address with its port.
package struct SocketAddress: Sendable, Equatable, CustomStringConvertible {
    private var storage = sockaddr_storage()
    /// Bytes of `storage` that are in use.
    private let length: socklen_t

    /// Copies the address at `pointer`; nil when it is neither IPv4 nor IPv6.
    init?(copying pointer: UnsafePointer<sockaddr>) {
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET: length = socklen_t(MemoryLayout<sockaddr_in>.size)
        case AF_INET6: length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        default: return nil
        }
        let count = Int(length)
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: count))
        }
    }

    /// Lets `fill` write a `sockaddr`, as `getsockname` does; nil when it returns other than 0 or
    /// the family is another. Raw pointers, so that no C type stands in the signature.
    package init?(
        filledBy fill: (UnsafeMutableRawPointer, UnsafeMutablePointer<UInt32>) -> Int32
    ) {
        var filled = sockaddr_storage()
        var count = UInt32(MemoryLayout<sockaddr_storage>.size)
        let made: SocketAddress? = withUnsafeMutableBytes(of: &filled) {
            guard let start = $0.baseAddress, fill(start, &count) == 0 else { return nil }
            return SocketAddress(copying: start.assumingMemoryBound(to: sockaddr.self))
        }
        guard let made else { return nil }
        self = made
    }

    /// Reads "127.0.0.1" or "::1" (no brackets, no zone); nil for anything else, names included.
    package static func parse(numericHost host: String, port: UInt16) -> SocketAddress? {
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_port = port.bigEndian
        if inet_pton(AF_INET, host, &v4.sin_addr) == 1 { return copy(of: v4) }
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        if inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 { return copy(of: v6) }
        return nil
    }

    /// `AF_INET` or `AF_INET6`.
    package var family: Int32 { Int32(storage.ss_family) }

    package var port: UInt16 {
        withBytes { bytes in
            // Both forms keep the port in network order behind the family.
            UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }

    /// True for 127.0.0.0/8, also mapped into IPv6, and for ::1.
    package var isLoopback: Bool {
        withBytes { bytes in
            if family == AF_INET { return bytes[4] == 127 }
            let address = bytes[8..<24]
            let isMapped =
                address.prefix(10).allSatisfy { $0 == 0 } && bytes[18] == 255
                && bytes[19] == 255
            if isMapped { return bytes[20] == 127 }
            return address.dropLast().allSatisfy { $0 == 0 } && bytes[23] == 1
        }
    }

    /// "127.0.0.1:2197" or "[::1]:2197".
    package var description: String {
        let host = numericHost
        return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The address without its port: "127.0.0.1" or "::1".
    package var numericHost: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let written = withBytes { bytes in
                inet_ntop(
                    family, bytes.baseAddress! + (family == AF_INET ? 4 : 8), text.baseAddress!,
                    socklen_t(text.count))
            }
            return written.map { String(cString: $0) } ?? "?"
        }
    }

    /// Lends the address as a `sockaddr` and its length for a system call; the pointer is valid
    /// during `body` alone.
    package func withSockaddr<Result>(
        _ body: (UnsafeRawPointer, UInt32) -> Result
    ) -> Result {
        withBytes { body($0.baseAddress!, length) }
    }

    /// Whether both name the same host and port; flow labels and padding do not count.
    package static func == (one: SocketAddress, other: SocketAddress) -> Bool {
        one.family == other.family && one.port == other.port
            && one.numericHost == other.numericHost
    }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: storage, body)
    }

    private static func copy<Form>(of address: Form) -> SocketAddress? {
        withUnsafeBytes(of: address) { bytes in
            bytes.baseAddress.flatMap {
                SocketAddress(copying: $0.assumingMemoryBound(to: sockaddr.self))
            }
        }
    }
}
