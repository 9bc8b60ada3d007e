internal import Crypto

/// The certificate with which a client authenticates: its topics, and what is wrong with it.
///
/// Apple, Establishing a certificate-based connection to APNs.
struct ClientIdentity {
    /// What it may push to, exactly; empty only when the certificate is bad.
    let topics: [String]
    /// Why it is no good; nil when it is.
    let fault: GatewayReason?

    /// Judges a client's certificate in DER. Who has signed it does not matter here.
    init(certificate der: [UInt8], environment: PushEnvironment, wallSeconds: Int64) {
        guard let certificate = try? PushCertificate.parse(der: der),
            certificate.validSeconds.contains(wallSeconds),
            case let topics = Self.topics(of: certificate), !topics.isEmpty
        else {
            self.topics = []
            fault = .badCertificate
            return
        }
        self.topics = topics
        // A certificate with both marks is for both, and so is one without any.
        let isForOther =
            switch environment {
            case .production: certificate.isForSandbox && !certificate.isForProduction
            case .sandbox: certificate.isForProduction && !certificate.isForSandbox
            }
        fault = isForOther ? .badCertificateEnvironment : nil
    }

    /// The topics of the extension; without it those that a certificate with a bundle id alone was
    /// good for (seen in the certificates that a client library tests with).
    private static func topics(of certificate: PushCertificate) -> [String] {
        if !certificate.topics.isEmpty { return certificate.topics }
        return certificate.userID.map { [$0] } ?? []
    }
}
