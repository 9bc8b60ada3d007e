internal import COpenSSL

/// The two forms of an ECDSA signature: OpenSSL's DER, and r and s of 32 bytes each (RFC 7518
/// section 3.4).
enum ES256Signature {
    static let bytes = 64

    static func fixedSize(der: ArraySlice<UInt8>) throws(CryptoError) -> [UInt8] {
        let parsed = der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &position, buffer.count)
        }
        guard let parsed else { throw .openSSL("d2i_ECDSA_SIG") }
        defer { ECDSA_SIG_free(parsed) }
        var fixed = [UInt8](repeating: 0, count: bytes)
        let isWritten = fixed.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return BN_bn2binpad(ECDSA_SIG_get0_r(parsed), base, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), base + 32, 32) == 32
        }
        guard isWritten else { throw .openSSL("BN_bn2binpad") }
        return fixed
    }

    /// Nil for another length than 64.
    static func der(fixedSize: [UInt8]) -> [UInt8]? {
        guard fixedSize.count == bytes, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let isSet = fixedSize.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            let r = BN_bin2bn(base, 32, nil)
            let s = BN_bin2bn(base + 32, 32, nil)
            // Takes both over when it succeeds, and refuses a nil.
            if ECDSA_SIG_set0(signature, r, s) == 1 { return true }
            BN_free(r)
            BN_free(s)
            return false
        }
        guard isSet else { return nil }
        let length = i2d_ECDSA_SIG(signature, nil)
        guard length > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(length))
        der.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            _ = i2d_ECDSA_SIG(signature, &position)
        }
        return der
    }
}
