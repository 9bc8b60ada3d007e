import Crypto
import Foundation
import Glibc
import TestSupport
import Testing

@testable import MockAPNS

/// The folder with the local authority: who may read it, when it is used again, when it is made
/// anew.
struct StateFolderTests {
    private let temporary = TemporaryDirectory()
    private var folder: StateFolder { StateFolder(path: temporary.path + "/state/peal/mock") }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// What `openssl` says about the certificate that the folder's authority has issued.
    private func openssl(_ arguments: String...) throws -> String {
        try Subprocess.run(["openssl"] + arguments).output
    }

    @Test("the folder is for its user alone, and so are its files")
    func permissions() throws {
        _ = try folder.serverCertificate(host: "127.0.0.1")
        #expect(mode(folder.path) == 0o700)
        for name in ["ca.pem", "ca-key.pem", "server.pem", "server-key.pem", "lock"] {
            #expect(mode(folder.path + "/" + name) == 0o600, "\(name)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 5)
    }

    @Test("openssl verifies the certificate against ca.pem for every local name and the host")
    func namesAreCovered() throws {
        _ = try folder.serverCertificate(host: "127.0.0.3")
        for name in ["127.0.0.1", "127.0.0.3", "::1"] {
            let output = try openssl(
                "verify", "-CAfile", folder.caFile, "-verify_ip", name, folder.path + "/server.pem")
            #expect(output.hasSuffix("OK\n"))
        }
        let output = try openssl(
            "verify", "-CAfile", folder.caFile, "-verify_hostname", "localhost",
            folder.path + "/server.pem")
        #expect(output.hasSuffix("OK\n"))
    }

    @Test("the second start uses what the first has made")
    func reuse() throws {
        let first = try folder.serverCertificate(host: "127.0.0.1")
        let second = try folder.serverCertificate(host: "::1")
        #expect(first.certificatePEM == second.certificatePEM)
        #expect(first.keyPEM == second.keyPEM)
    }

    @Test("a host that is not covered gets a new certificate from the same authority")
    func anotherHost() throws {
        let first = try folder.serverCertificate(host: "127.0.0.1")
        let authority = try StateFile.read(folder.caFile)
        let second = try folder.serverCertificate(host: "127.0.0.9")
        #expect(first.certificatePEM != second.certificatePEM)
        #expect(try StateFile.read(folder.caFile) == authority)
    }

    @Test("a certificate with less than a week left is replaced", arguments: [6, 8])
    func expiry(days: Int) throws {
        _ = try folder.serverCertificate(host: "127.0.0.1")
        let authority = CertificatePair(
            certificatePEM: try #require(try StateFile.read(folder.caFile)),
            keyPEM: try #require(try StateFile.read(folder.path + "/ca-key.pem")))
        let short = try CertificateAuthority.issue(
            from: authority, names: ["127.0.0.1"], days: days)
        let old = Array("Names: 127.0.0.1\n".utf8) + short.certificatePEM
        try StateFile.write(short.keyPEM, to: folder.path + "/server-key.pem")
        try StateFile.write(old, to: folder.path + "/server.pem")
        let used = try folder.serverCertificate(host: "127.0.0.1")
        #expect((used.certificatePEM == old) == (days == 8))
    }

    @Test("an authority without its key is made anew, with a new certificate")
    func lostKey() throws {
        let first = try folder.serverCertificate(host: "127.0.0.1")
        unlink(folder.path + "/ca-key.pem")
        let second = try folder.serverCertificate(host: "127.0.0.1")
        #expect(first.certificatePEM != second.certificatePEM)
        let output = try openssl("verify", "-CAfile", folder.caFile, folder.path + "/server.pem")
        #expect(output.hasSuffix("OK\n"))
    }

    @Test("of many first starts at once one makes the files and all use them")
    func concurrentFirstStart() async throws {
        let folder = folder
        let certificates = try await withThrowingTaskGroup(of: CertificatePair.self) { group in
            for _ in 0..<16 {
                group.addTask { try folder.serverCertificate(host: "127.0.0.1") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(certificates.map(\.certificatePEM)).count == 1)
        #expect(Set(certificates.map(\.keyPEM)).count == 1)
        #expect(try StateFile.read(folder.path + "/server.pem") == certificates[0].certificatePEM)
    }

    @Test("a folder that cannot be made is named, with the reason and what to do")
    func noFolder() throws {
        let file = temporary.write("x", to: "file")
        let error = #expect(throws: MockError.self) {
            _ = try StateFolder(path: file + "/mock").serverCertificate(host: "127.0.0.1")
        }
        let text = try #require(error).description
        #expect(text.contains(file))
        #expect(text.contains("Not a directory"))
        #expect(text.contains("--state"))
    }
}
