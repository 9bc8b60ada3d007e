internal import COpenSSL
internal import Glibc

/// A certificate and its private key, both as PEM.
package struct CertificatePair: Sendable, CustomStringConvertible {
    /// Public.
    package let certificatePEM: [UInt8]
    /// A secret: for a file of mode 0600 and nothing else.
    package let keyPEM: [UInt8]

    /// Of files; checked when it is used.
    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
    }

    /// Shows nothing of the key, wherever the value is printed.
    package var description: String { "CertificatePair" }
}

/// Makes certificates for a server on this machine: an authority that a client trusts by its file,
/// and server certificates signed by it (RFC 5280). Keys are on P-256.
package enum CertificateAuthority {
    /// A self-signed certificate that may sign server certificates and nothing else.
    /// - Parameter commonName: should say what it is for, because people find it in trust
    ///   stores; at most 64 bytes.
    package static func make(commonName: String, days: Int) throws(CryptoError) -> CertificatePair {
        let key = try SigningKey.generate()
        let certificate = try begin(subject: commonName, publicKey: key, days: days)
        guard
            X509_set_issuer_name(certificate.raw, X509_get_subject_name(certificate.raw)) == 1
        else { throw .openSSL("X509_set_issuer_name") }
        let extensions: [(Int32, String)] = [
            (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
            (NID_key_usage, "critical,keyCertSign,cRLSign"),
            (NID_subject_key_identifier, "hash"),
        ]
        try add(extensions, to: certificate.raw, issuer: certificate.raw)
        return try finish(certificate, subjectKey: key, signedBy: key)
    }

    /// A server certificate from `authority`.
    /// - Parameter names: DNS names and IP addresses (IPv6 without brackets), all of them subject
    ///   alternative names; the first is the common name too.
    package static func issue(
        from authority: CertificatePair, names: [String], days: Int
    ) throws(CryptoError) -> CertificatePair {
        guard let first = names.first else {
            throw CryptoError("a server certificate needs at least one name")
        }
        let issuer = try read(authority.certificatePEM)
        let issuerKey = try SigningKey.p8(authority.keyPEM)
        guard X509_check_private_key(issuer.raw, issuerKey.raw) == 1 else {
            ERR_clear_error()
            throw CryptoError(
                "the certificate and the key of the authority do not belong together: "
                    + "remove both files, so that they are made anew")
        }
        let key = try SigningKey.generate()
        let certificate = try begin(subject: first, publicKey: key, days: days)
        guard X509_set_issuer_name(certificate.raw, X509_get_subject_name(issuer.raw)) == 1 else {
            throw .openSSL("X509_set_issuer_name")
        }
        let extensions: [(Int32, String)] = [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_key_identifier, "hash"),
            (NID_authority_key_identifier, "keyid:always"),
            (NID_subject_alt_name, try alternativeNames(names)),
        ]
        try add(extensions, to: certificate.raw, issuer: issuer.raw)
        return try finish(certificate, subjectKey: key, signedBy: issuerKey)
    }

    /// Whole days until the certificate expires, by this machine's clock; negative when it has
    /// expired, nil when it cannot be read.
    package static func daysLeft(certificatePEM: [UInt8]) -> Int? {
        guard let certificate = try? read(certificatePEM) else { return nil }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard
            ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate.raw)) == 1
        else {
            ERR_clear_error()
            return nil
        }
        return days == 0 && seconds < 0 ? -1 : Int(days)
    }

    private static func read(_ pem: [UInt8]) throws(CryptoError) -> CertificateHandle {
        ERR_clear_error()
        let raw = try withInput(pem) { (input) throws(CryptoError) -> OpaquePointer? in
            PEM_read_bio_X509(input, nil, nil, nil)
        }
        guard let raw else {
            ERR_clear_error()
            throw CryptoError("the certificate cannot be read: it is no PEM file, or damaged")
        }
        return CertificateHandle(owning: raw)
    }

    /// Version 3, random serial number, validity from an hour ago (clocks differ), subject and key.
    private static func begin(
        subject: String, publicKey: SigningKey, days: Int
    ) throws(CryptoError) -> CertificateHandle {
        guard (1...36_500).contains(days) else {
            throw CryptoError("a certificate is valid for 1 to 36500 days, not \(days)")
        }
        ERR_clear_error()
        guard let raw = X509_new() else { throw .openSSL("X509_new") }
        let certificate = CertificateHandle(owning: raw)
        try setSerial(of: raw)
        let name = X509_get_subject_name(raw)
        let text = Array(subject.utf8.prefix(64))  // ub-common-name
        guard X509_set_version(raw, 2) == 1,  // counts from 0: version 3
            X509_gmtime_adj(X509_getm_notBefore(raw), -3600) != nil,
            X509_time_adj_ex(X509_getm_notAfter(raw), Int32(days), 0, nil) != nil,
            X509_NAME_add_entry_by_txt(
                name, "CN", MBSTRING_FLAG | 0, text, Int32(text.count), -1, 0) == 1,
            X509_set_pubkey(raw, publicKey.raw) == 1
        else { throw .openSSL("X509_set") }
        return certificate
    }

    /// 16 random bytes, positive: RFC 5280 section 4.1.2.2 allows 20.
    private static func setSerial(of certificate: OpaquePointer) throws(CryptoError) {
        var bytes = randomBytes(16)
        bytes[0] = (bytes[0] & 0x7F) | 0x40
        guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else {
            throw .openSSL("BN_bin2bn")
        }
        defer { BN_free(number) }
        guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil else {
            throw .openSSL("BN_to_ASN1_INTEGER")
        }
    }

    private static func add(
        _ extensions: [(Int32, String)], to certificate: OpaquePointer, issuer: OpaquePointer
    ) throws(CryptoError) {
        var context = X509V3_CTX()
        peal_crypto_set_context_without_database(&context)
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        for (kind, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
                throw .openSSL("X509V3_EXT_conf_nid")
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else { throw .openSSL("X509_add_ext") }
        }
    }

    /// "DNS:localhost,IP:127.0.0.1,…"; OpenSSL's syntax has separators of its own, so a name may
    /// only hold what host names and addresses are made of.
    private static func alternativeNames(_ names: [String]) throws(CryptoError) -> String {
        var parts: [String] = []
        for name in names {
            let isAllowed = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "*"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            if isAddress(name) {
                parts.append("IP:" + name)
            } else if isAllowed, !name.isEmpty, name.utf8.count <= 253 {
                parts.append("DNS:" + name)
            } else {
                throw CryptoError(
                    "“\(name)” is neither a host name nor an IP address: correct the name")
            }
        }
        return parts.joined(separator: ",")
    }

    private static func isAddress(_ name: String) -> Bool {
        var room = in6_addr()
        return inet_pton(AF_INET, name, &room) == 1 || inet_pton(AF_INET6, name, &room) == 1
    }

    private static func finish(
        _ certificate: borrowing CertificateHandle, subjectKey: SigningKey,
        signedBy issuerKey: SigningKey
    ) throws(CryptoError) -> CertificatePair {
        guard X509_sign(certificate.raw, issuerKey.raw, EVP_sha256()) > 0 else {
            throw .openSSL("X509_sign")
        }
        let output = try MemoryOutput()
        guard PEM_write_bio_X509(output.raw, certificate.raw) == 1 else {
            throw .openSSL("PEM_write_bio_X509")
        }
        return CertificatePair(certificatePEM: output.bytes, keyPEM: subjectKey.p8PEM())
    }
}
