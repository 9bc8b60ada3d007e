/// The text form of a device token: opaque bytes in hexadecimal, of no fixed size (Apple: never
/// assume one).
package enum DeviceToken {
    /// Fewer hexadecimal characters are no token: the smallest ever seen has 64.
    package static let hexCharactersMin = 32
    /// More are no token either: the longest ever seen has 200; Apple once announced 100 bytes.
    package static let hexCharactersMax = 512

    /// Writes the token in lower case, without spaces, `<` and `>`.
    ///
    /// Returns its length, or nil when it is none: another character, an odd length, or a length
    /// outside the limits. No allocation.
    /// - Parameters:
    ///   - raw: the field as it stands in the file.
    ///   - output: at least `hexCharactersMax` bytes; undefined after nil.
    package static func normalise(
        _ raw: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        precondition(output.count >= hexCharactersMax)
        var length = 0
        for byte in raw {
            let character = classes[Int(byte)]
            if character > 1 {
                guard length < hexCharactersMax else { return nil }
                output[length] = character
                length &+= 1  // at most hexCharactersMax
            } else if character == 0 {
                return nil
            }
        }
        guard length >= hexCharactersMin, length & 1 == 0 else { return nil }
        return length
    }

    /// "740f4707…ac2e5f" for screens and messages: tokens are personal data, so never the whole
    /// one.
    package static func shortened(_ token: UnsafeRawBufferPointer) -> String {
        guard token.count >= hexCharactersMin else {
            return "(\(token.count) characters)"
        }
        let first = String(decoding: token.prefix(8), as: UTF8.self)
        let last = String(decoding: token.suffix(6), as: UTF8.self)
        return "\(first)…\(last)"
    }

    /// By byte: 0 not allowed, 1 removed, else the lower-case character. Proof for
    /// `nonisolated(unsafe)`: written once, by the initialiser of a static, and never freed.
    nonisolated(unsafe) private static let classes: UnsafePointer<UInt8> = {
        let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        table.initialize(repeating: 0, count: 256)
        for byte in " <>".utf8 { table[Int(byte)] = 1 }
        for byte in "0123456789abcdef".utf8 { table[Int(byte)] = byte }
        for byte in "ABCDEF".utf8 { table[Int(byte)] = byte | 0x20 }
        return UnsafePointer(table)
    }()
}
