import Campaign
import Crypto
import Glibc

/// What a certificate says about a campaign, before APNs says it. Time is passed in.
struct CertificateCheck {
    /// Days before its end from which every command that uses a certificate says so.
    static let warningDays: Int64 = 30
    private static let daySeconds: Int64 = 86_400

    let file: String
    let certificate: PushCertificate
    let nowSeconds: Int64

    init(_ credentials: IdentityCredentials, nowSeconds: Int64) {
        self.init(
            file: credentials.file, certificate: credentials.identity.certificate,
            nowSeconds: nowSeconds)
    }

    init(file: String, certificate: PushCertificate, nowSeconds: Int64) {
        self.file = file
        self.certificate = certificate
        self.nowSeconds = nowSeconds
    }

    /// Whole days until its end; negative behind it.
    var daysLeft: Int64 {
        let left = certificate.validSeconds.upperBound - nowSeconds
        return left >= 0 ? left / Self.daySeconds : (left + 1) / Self.daySeconds - 1
    }

    /// That its end is near; nil when it is not.
    var warning: String? {
        guard certificate.validSeconds.contains(nowSeconds), daysLeft <= Self.warningDays else {
            return nil
        }
        let days =
            switch daysLeft {
            case 0: "in less than a day"
            case 1: "in 1 day"
            default: "in \(daysLeft) days"
            }
        return "the certificate in \(file) expires \(days), on \(expiry): \(Self.renew)"
    }

    /// Refuses a certificate outside its time.
    func requireValid() throws(CommandFailure) {
        if nowSeconds > certificate.validSeconds.upperBound {
            throw .refused("\(file): the certificate expired on \(expiry): \(Self.renew)")
        }
        if nowSeconds < certificate.validSeconds.lowerBound {
            throw .refused(
                "\(file): the certificate is valid only from "
                    + "\(UTCText.of(certificate.validSeconds.lowerBound)) on, and this machine's "
                    + "clock says \(UTCText.of(nowSeconds)): set the clock if it is wrong")
        }
    }

    /// Refuses a certificate of another app or environment. One that says nothing about them may
    /// pass: APNs decides.
    func requireFit(
        topic: String, environment: CampaignEnvironment
    ) throws(CommandFailure) {
        let topics = certificate.allowedTopics
        guard topics.isEmpty || topics.contains(topic) else {
            let list = topics.map { "\"\(UTCText.printable($0))\"" }.joined(separator: ", ")
            throw .refused(
                "\(file): the certificate is for the topic\(topics.count == 1 ? "" : "s") \(list), "
                    + "and the campaign's topic is \"\(topic)\": correct topic, or use the "
                    + "certificate of that app")
        }
        // A certificate with both marks is for both, and so is one without any.
        guard certificate.isForSandbox != certificate.isForProduction else { return }
        let own: CampaignEnvironment = certificate.isForSandbox ? .sandbox : .production
        guard own == environment else {
            throw .refused(
                "\(file): the certificate is for the \(own.rawValue) environment alone, and the "
                    + "campaign's environment is \"\(environment.rawValue)\": correct environment, "
                    + "or make a certificate \"Sandbox & Production\"")
        }
    }

    private var expiry: String { UTCText.of(certificate.validSeconds.upperBound) }

    private static let renew =
        "make a new one on Apple's page (Certificates, Identifiers & Profiles), export it with its "
        + "key and replace the file; a p8 key never expires"
}

/// Times and foreign text for people.
enum UTCText {
    /// As in "2026-03-14 09:00 UTC".
    static func of(_ unixSeconds: Int64) -> String {
        var seconds = time_t(unixSeconds)
        var broken = tm()
        var text = [CChar](repeating: 0, count: 64)
        guard gmtime_r(&seconds, &broken) != nil,
            case let count = strftime(&text, text.count, "%Y-%m-%d %H:%M UTC", &broken), count > 0
        else { return "\(unixSeconds) s after 1970" }
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `text` without what could steer a terminal.
    static func printable(_ text: String) -> String {
        var view = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: view.append("\u{FFFD}")
            default: view.append(scalar)
            }
        }
        return String(view)
    }
}
