import Crypto
import TestSupport
import Testing

@Suite struct Base64URLTests {
    /// RFC 4648 section 10, without padding, and RFC 7515 appendix C.
    @Test(arguments: [
        ("", [UInt8]()),
        ("Zg", Array("f".utf8)),
        ("Zm8", Array("fo".utf8)),
        ("Zm9v", Array("foo".utf8)),
        ("Zm9vYg", Array("foob".utf8)),
        ("Zm9vYmE", Array("fooba".utf8)),
        ("Zm9vYmFy", Array("foobar".utf8)),
        ("A-z_4ME", [3, 236, 255, 224, 193]),
    ])
    func agreesWithTheVectorsOfTheRFCs(text: String, bytes: [UInt8]) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text.utf8) == bytes)
    }

    @Test(arguments: ["Zg==", "Zm9v\n", "A+z/4ME", "Z", "Zm9vY", "Zh", "Zm9", "é"])
    func refusesWhatNoEncoderWrites(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test func bytesOfEveryLengthComeBack() {
        var random = SeededGenerator(seed: testSeed)
        for length in 0..<100 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
    }
}
