/// Checks UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
package enum UTF8Check {
    /// The length in bytes of the well-formed sequence at `index`; 0 when it is not well-formed.
    @inline(__always)
    package static func sequenceBytes(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        bytes[index] < 0x80 ? 1 : longSequenceBytes(bytes, at: index)
    }

    /// The offset of the first byte that is not part of well-formed UTF-8; nil when all is.
    ///
    /// Eight bytes at a time while they are ASCII, as nearly all bytes of a recipients file are.
    package static func firstFault(in bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while index < bytes.count {
            if index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let others = UInt64(littleEndian: word) & ByteWord.tops
                if others == 0 {
                    index += 8
                    continue
                }
                index += ByteWord.firstIndex(others)
            }
            let length = sequenceBytes(bytes, at: index)
            if length == 0 { return index }
            index += length
        }
        return nil
    }

    /// Table 3-7 of the Unicode standard: the second byte carries the limits of each first byte.
    private static func longSequenceBytes(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        let first = bytes[index]
        let length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
        if length == 0 || bytes.count - index < length { return 0 }
        let second = bytes[index + 1]
        let lowest: UInt8 = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80
        let highest: UInt8 = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF
        if second < lowest || second > highest { return 0 }
        for next in index + 2..<max(index + length, index + 2) where bytes[next] & 0xC0 != 0x80 {
            return 0
        }
        return length
    }
}
