internal import COpenSSL

/// What a provider's certificate says about pushing: topics, environments and the time it is good
/// for.
///
/// Apple, "Establishing a certificate-based connection to APNs". Nothing is verified here.
package struct PushCertificate: Sendable, Equatable {
    /// Topics of the extension that are kept, at most; Apple's have a handful.
    static let topicsMax = 64
    /// Bytes of a topic, at most; a bundle id has 155 and the longest suffix 24.
    static let topicBytesMax = 256
    /// Bytes of a name that are shown, at most.
    static let nameBytesMax = 512

    /// The subject's UID, which for an app is its bundle id.
    package let userID: String?
    /// The topics of the extension 1.2.840.113635.100.6.3.6 in its order; empty without it.
    package let topics: [String]
    /// The mark of the sandbox, 1.2.840.113635.100.6.3.1.
    package let isForSandbox: Bool
    /// The mark of production, 1.2.840.113635.100.6.3.2.
    package let isForProduction: Bool
    /// The first and the last second of its validity, since 1970.
    package let validSeconds: ClosedRange<Int64>
    /// Whom it is for and who has signed it, as in "CN=Apple Push Services: com.example.app".
    package let subject: String
    package let issuer: String

    /// The topics it may push to: those of the extension, or else the bundle id.
    package var allowedTopics: [String] {
        topics.isEmpty ? userID.map { [$0] } ?? [] : topics
    }

    /// Reads a certificate in DER. *Errors:* damaged bytes, or a validity that is none.
    package static func parse(der: [UInt8]) throws(CryptoError) -> PushCertificate {
        let certificate = CertificateHandle(owning: try decode(der))
        return try parse(certificate.raw)
    }

    /// The certificate in DER; the caller frees it.
    static func decode(_ der: [UInt8]) throws(CryptoError) -> OpaquePointer {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let raw = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_X509(nil, &position, bytes.count)
        }
        guard let raw else {
            throw CryptoError("the client's certificate cannot be read: it is damaged")
        }
        return raw
    }

    static func parse(_ certificate: OpaquePointer) throws(CryptoError) -> PushCertificate {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let first = seconds(X509_get0_notBefore(certificate)),
            let last = seconds(X509_get0_notAfter(certificate)), first <= last
        else { throw CryptoError("the client's certificate has no time in which it is valid") }
        let topics = content(of: "1.2.840.113635.100.6.3.6", in: certificate)
        return PushCertificate(
            userID: userID(of: certificate),
            topics: topics.map(Self.topics) ?? [],
            isForSandbox: content(of: "1.2.840.113635.100.6.3.1", in: certificate) != nil,
            isForProduction: content(of: "1.2.840.113635.100.6.3.2", in: certificate) != nil,
            validSeconds: first...last,
            subject: name(X509_get_subject_name(certificate)),
            issuer: name(X509_get_issuer_name(certificate)))
    }

    static func subject(of certificate: OpaquePointer) -> String {
        name(X509_get_subject_name(certificate))
    }

    /// A name on one line; control characters are escaped.
    private static func name(_ name: OpaquePointer?) -> String {
        guard let output = try? MemoryOutput() else { return "" }
        let flags =
            UInt(XN_FLAG_SEP_CPLUS_SPC) | UInt(ASN1_STRFLGS_ESC_CTRL)
            | UInt(ASN1_STRFLGS_UTF8_CONVERT)
        guard X509_NAME_print_ex(output.raw, name, 0, flags) >= 0 else { return "" }
        return String(decoding: output.bytes.prefix(nameBytesMax), as: UTF8.self)
    }

    private static func userID(of certificate: OpaquePointer) -> String? {
        let subject = X509_get_subject_name(certificate)
        let index = X509_NAME_get_index_by_NID(subject, NID_userId, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(subject, index) else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
        guard count > 0, Int(count) <= topicBytesMax, let text else { return nil }
        defer { CRYPTO_free(text, #file, #line) }
        return String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
    }

    /// The bytes inside an extension; nil when the certificate has none of this kind.
    private static func content(of kind: String, in certificate: OpaquePointer) -> [UInt8]? {
        guard let object = OBJ_txt2obj(kind, 1) else { return nil }
        defer { ASN1_OBJECT_free(object) }
        let index = X509_get_ext_by_OBJ(certificate, object, -1)
        guard index >= 0, let found = X509_get_ext(certificate, index),
            let data = X509_EXTENSION_get_data(found)
        else { return nil }
        let bytes = UnsafeBufferPointer(
            start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data)))
        return Array(bytes)
    }

    /// A SEQUENCE of UTF8String (a topic) and SEQUENCE (its kind) in turn; what is neither is
    /// skipped.
    private static func topics(_ bytes: [UInt8]) -> [String] {
        guard let sequence = element(bytes[...]), sequence.tag == V_ASN1_SEQUENCE else { return [] }
        var rest = sequence.content
        var topics: [String] = []
        while topics.count < topicsMax, let item = element(rest) {
            if item.tag == V_ASN1_UTF8STRING, (1...topicBytesMax).contains(item.content.count) {
                topics.append(String(decoding: item.content, as: UTF8.self))
            }
            rest = rest[item.content.endIndex...]
        }
        return topics
    }

    /// The first element of DER bytes; nil at their end and where they are damaged.
    private static func element(
        _ bytes: ArraySlice<UInt8>
    ) -> (tag: Int32, content: ArraySlice<UInt8>)? {
        guard !bytes.isEmpty else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            var length = 0
            var tag: Int32 = 0
            var kind: Int32 = 0
            let flags = ASN1_get_object(&position, &length, &tag, &kind, buffer.count)
            guard flags & 0x80 == 0, flags & 1 == 0, let position, let base = buffer.baseAddress
            else { return nil }  // 0x80: damaged; 1: without a length, which DER does not have.
            let start = bytes.startIndex + (position - base)
            guard length >= 0, length <= bytes.endIndex - start else { return nil }
            return (tag, bytes[start..<start + length])
        }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}
