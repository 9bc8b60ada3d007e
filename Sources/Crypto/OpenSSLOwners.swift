internal import COpenSSL

/// Owner of an `EVP_PKEY`.
struct KeyHandle: ~Copyable {
    let raw: OpaquePointer
    init(owning raw: OpaquePointer) { self.raw = raw }
    deinit { EVP_PKEY_free(raw) }
}

/// Owner of an `X509`.
struct CertificateHandle: ~Copyable {
    let raw: OpaquePointer
    init(owning raw: OpaquePointer) { self.raw = raw }
    deinit { X509_free(raw) }
}

/// Owner of a memory BIO that bytes are written into.
struct MemoryOutput: ~Copyable {
    let raw: OpaquePointer

    init() throws(CryptoError) {
        guard let made = BIO_new(BIO_s_mem()) else { throw .openSSL("BIO_new") }
        raw = made
    }

    deinit { BIO_free(raw) }

    /// A copy of what was written.
    var bytes: [UInt8] {
        var data: UnsafeMutablePointer<CChar>?
        let count = peal_crypto_bio_memory(raw, &data)
        guard let data, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: count))
    }
}

/// Calls `body` with a BIO that reads `bytes`; it is valid during the call only.
func withInput<Result>(
    _ bytes: [UInt8], _ body: (OpaquePointer) throws(CryptoError) -> Result
) throws(CryptoError) -> Result {
    guard bytes.count <= PEM.fileBytesMax else {
        throw CryptoError("the file is larger than \(PEM.fileBytesMax) bytes: not a key file")
    }
    // The BIO refers to the array's memory, so a copy is made that lives as long as the BIO.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
    copy.copyBytes(from: bytes)
    defer {
        OPENSSL_cleanse(copy.baseAddress, copy.count)
        copy.deallocate()
    }
    guard let bio = BIO_new_mem_buf(copy.baseAddress, Int32(bytes.count)) else {
        throw .openSSL("BIO_new_mem_buf")
    }
    defer { BIO_free(bio) }
    return try body(bio)
}
