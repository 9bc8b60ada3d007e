internal import Crypto
internal import Glibc

/// The folder in which a local APNs keeps its certificate authority and its certificate: made on
/// first use, kept so that a client can trust `ca.pem` once and for all.
///
/// The folder is made with mode 0700 and its files with 0600. Processes that start at the same time
/// take turns by a lock file, and each file appears whole by a rename.
struct StateFolder {
    /// How long a new authority and a new certificate live. Ten years and about one: the authority
    /// is what people have installed, and 398 days is the most that Apple's clients accept of a
    /// server.
    private static let authorityDays = 3650
    private static let certificateDays = 397

    /// A certificate with fewer days left is replaced, so that none expires under a running server.
    private static let daysLeftMin = 7

    /// Names every certificate covers, whatever the server listens on.
    private static let localNames = ["localhost", "127.0.0.1", "::1"]

    let path: String

    /// The authority's certificate, for clients to trust.
    var caFile: String { path + "/ca.pem" }

    private var caKeyFile: String { path + "/ca-key.pem" }
    private var certificateFile: String { path + "/server.pem" }
    private var certificateKeyFile: String { path + "/server-key.pem" }

    /// The certificate and key of a server on `host`; made, or made anew where they are missing,
    /// about to expire, or do not cover the host.
    ///
    /// *Thread:* any, but it waits for another process that is at the same work.
    func serverCertificate(host: String) throws(MockError) -> CertificatePair {
        try makeFolder()
        return try withFolderLocked(path) { () throws(MockError) in
            try lockedServerCertificate(host: host)
        }
    }

    private func lockedServerCertificate(host: String) throws(MockError) -> CertificatePair {
        let (authority, isNew) = try authority()
        if !isNew, let pair = try usableCertificate(host: host) { return pair }
        let names = Self.localNames + (Self.localNames.contains(host) ? [] : [host])
        let issued = try made("a server certificate") { () throws(CryptoError) in
            try CertificateAuthority.issue(
                from: authority, names: names, days: Self.certificateDays)
        }
        let pair = CertificatePair(
            certificatePEM: Self.namesLine(names) + issued.certificatePEM, keyPEM: issued.keyPEM)
        try replace(certificateFile, certificateKeyFile, with: pair)
        return pair
    }

    private func authority() throws(MockError) -> (CertificatePair, isNew: Bool) {
        if let pair = try pair(caFile, caKeyFile), isFresh(pair) { return (pair, false) }
        let pair = try made("a certificate authority") { () throws(CryptoError) in
            try CertificateAuthority.make(
                commonName: "Peal local APNs", days: Self.authorityDays)
        }
        try replace(caFile, caKeyFile, with: pair)
        return (pair, true)
    }

    private func usableCertificate(host: String) throws(MockError) -> CertificatePair? {
        guard let pair = try pair(certificateFile, certificateKeyFile), isFresh(pair),
            Self.names(in: pair.certificatePEM).contains(host)
        else { return nil }
        return pair
    }

    private func isFresh(_ pair: CertificatePair) -> Bool {
        CertificateAuthority.daysLeft(certificatePEM: pair.certificatePEM)
            .map { $0 >= Self.daysLeftMin } ?? false
    }

    private func made<Made>(
        _ what: String, _ make: () throws(CryptoError) -> Made
    ) throws(MockError) -> Made {
        do { return try make() } catch {
            throw MockError(
                "cannot make \(what) in \(path): \(error); if the folder's files are damaged, "
                    + "remove the folder and start again")
        }
    }
}

/// A certificate's names stand in a line of their own before the PEM block, where every reader of
/// PEM skips them (RFC 7468 section 2): one file, so that names and certificate cannot differ.
extension StateFolder {
    private static let namesPrefix = "Names:"

    private static func namesLine(_ names: [String]) -> [UInt8] {
        Array("\(namesPrefix) \(names.joined(separator: " "))\n".utf8)
    }

    private static func names(in certificatePEM: [UInt8]) -> [String] {
        let line = String(
            decoding: certificatePEM.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard line.hasPrefix(namesPrefix) else { return [] }
        return line.dropFirst(namesPrefix.count).split(separator: " ").map(String.init)
    }
}

/// Files.
extension StateFolder {
    /// A certificate with its key; nil unless both are there.
    private func pair(
        _ certificatePath: String, _ keyPath: String
    ) throws(MockError) -> CertificatePair? {
        guard let certificate = try StateFile.read(certificatePath),
            let key = try StateFile.read(keyPath)
        else { return nil }
        return CertificatePair(certificatePEM: certificate, keyPEM: key)
    }

    /// Writes the pair so that a certificate never stands beside another one's key: a crash on the
    /// way leaves no certificate, and the next start makes a new pair.
    private func replace(
        _ certificatePath: String, _ keyPath: String, with pair: CertificatePair
    ) throws(MockError) {
        unlink(certificatePath)
        try StateFile.write(pair.keyPEM, to: keyPath)
        try StateFile.write(pair.certificatePEM, to: certificatePath)
    }

    /// Makes the folder and those above it, for this user alone.
    private func makeFolder() throws(MockError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += part + "/"
            guard mkdir(made, 0o700) != 0 else { continue }
            let code = errno
            if code == EEXIST || isFolder(made) { continue }
            throw MockError(
                "cannot make the state folder \(path): \(made): \(errnoText(code)); "
                    + "give another folder with --state")
        }
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
