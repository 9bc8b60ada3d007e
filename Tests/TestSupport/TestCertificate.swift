internal import Glibc

/// A provider's certificate and its key as `openssl` makes them, each in a PEM file.
package struct TestCertificate {
    /// The kinds of keys that people have.
    package enum Key: String, Sendable { case rsa, ec }

    package let certificateFile: String
    package let keyFile: String
    private let folder: TemporaryDirectory
    private let name: String

    /// Makes a self-signed certificate.
    ///
    /// - Parameters:
    ///   - name: the beginning of the names of its files.
    ///   - topics: those of the extension; empty: it has none.
    ///   - marks: the last numbers of 1.2.840.113635.100.6.3: 1 the sandbox, 2 production.
    ///   - days: its first and last day, counted from now.
    package init(
        in folder: TemporaryDirectory, name: String = "push",
        subject: String = "/UID=com.example.app/CN=Apple Push Services: com.example.app",
        topics: [String] = ["com.example.app", "com.example.app.voip"], marks: [Int] = [1, 2],
        days: ClosedRange<Int> = -1...365, key: Key = .rsa
    ) throws {
        self.folder = folder
        self.name = name
        certificateFile = "\(folder.path)/\(name).crt"
        keyFile = "\(folder.path)/\(name).key"
        let configuration = folder.write(
            Self.configuration(folder.path, name, topics: topics, marks: marks),
            to: "\(name).cnf")
        folder.write("", to: "\(name).index")
        let kind =
            key == .rsa
            ? ["-newkey", "rsa:2048"]
            : ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        try Self.openssl(
            ["req", "-new", "-nodes", "-config", configuration, "-subj", subject] + kind
                + ["-keyout", keyFile, "-out", "\(folder.path)/\(name).csr"])
        try Self.openssl([
            "ca", "-selfsign", "-batch", "-notext", "-config", configuration, "-keyfile", keyFile,
            "-in", "\(folder.path)/\(name).csr", "-startdate", Self.date(days.lowerBound),
            "-enddate", Self.date(days.upperBound), "-out", certificateFile,
        ])
    }

    package var certificatePEM: [UInt8] { folder.read("\(name).crt") ?? [] }
    package var keyPEM: [UInt8] { folder.read("\(name).key") ?? [] }

    /// Writes a p12 file with `openssl pkcs12 -export`, and returns its path.
    @discardableResult
    package func exportP12(
        _ name: String, passphrase: String?, _ options: [String] = []
    ) throws -> String {
        let path = "\(folder.path)/\(name)"
        try Self.openssl(
            [
                "pkcs12", "-export", "-in", certificateFile, "-inkey", keyFile, "-out", path,
                "-passout", "pass:\(passphrase ?? "")",
            ] + options)
        return path
    }

    /// What Keychain Access writes: the certificate in 40-bit RC2, the key in 3DES, a SHA-1 MAC.
    package static let keychainCiphers = [
        "-legacy", "-certpbe", "PBE-SHA1-RC2-40", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1",
    ]

    /// Runs `openssl`, which must succeed.
    package static func openssl(_ arguments: [String]) throws {
        let result = try Subprocess.run(["openssl"] + arguments)
        guard result.status == 0 else {
            throw Subprocess.Failure(description: "openssl \(arguments): \(result.allText)")
        }
    }

    private static func date(_ day: Int) -> String {
        var seconds = time(nil) + day * 86_400
        var broken = tm()
        gmtime_r(&seconds, &broken)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y%m%d%H%M%SZ", &broken)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func configuration(
        _ folder: String, _ name: String, topics: [String], marks: [Int]
    ) -> String {
        var extensions = marks.map { "1.2.840.113635.100.6.3.\($0)=ASN1:NULL" }
        if !topics.isEmpty {
            extensions.append("1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics")
        }
        let list = topics.enumerated().map { "t\($0)=UTF8:\($1)\nk\($0)=SEQUENCE:kind" }
        return """
            [req]
            distinguished_name=none
            [none]
            [ca]
            default_ca=own
            [own]
            new_certs_dir=\(folder)
            database=\(folder)/\(name).index
            rand_serial=yes
            default_md=sha256
            policy=any
            preserve=yes
            x509_extensions=extensions
            [any]
            UID=optional
            organizationName=optional
            commonName=optional
            [extensions]
            extendedKeyUsage=clientAuth
            \(extensions.joined(separator: "\n"))
            [topics]
            \(list.joined(separator: "\n"))
            [kind]
            kind=UTF8:app

            """
    }
}
