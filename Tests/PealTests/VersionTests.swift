import TestSupport
import Testing

@testable import peal

struct VersionTests {
    @Test func theVersionNamesTheLibrariesAsTheSystemDoes() throws {
        let system = try Subprocess.run([
            "pkg-config", "--modversion", "libuv", "libnghttp2", "openssl",
        ]).output.split(separator: "\n")
        let names = ["libuv", "nghttp2", "OpenSSL"]
        let lines = zip(names, system).map { "\($0) \($1)\n" }
        #expect(Peal.versionText() == "peal \(Peal.version)\n" + lines.joined())
    }
}
