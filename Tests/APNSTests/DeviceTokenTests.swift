import APNS
import TestSupport
import Testing

@Suite struct DeviceTokenTests {
    private func normalise(_ raw: [UInt8]) -> String? {
        var output = [UInt8](repeating: 0xEE, count: DeviceToken.hexCharactersMax)
        let length = raw.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { DeviceToken.normalise(input, into: $0) }
        }
        return length.map { String(decoding: output[..<$0], as: UTF8.self) }
    }

    private func normalise(_ raw: String) -> String? { normalise(Array(raw.utf8)) }

    private let token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

    @Test func aTokenStaysAsItIs() {
        #expect(normalise(token) == token)
    }

    @Test func upperCaseSpacesAndAngleBracketsGo() {
        let printed = "<740F4707 BEBCF74F 9B7C25D4 8E335894 5F6AA01D A5DDB387 462C7EAF 61BB78AD>"
        #expect(normalise(printed) == token)
        #expect(normalise("  " + token.uppercased() + " ") == token)
        #expect(normalise(token.map { "\($0) " }.joined()) == token)
        #expect(normalise(String(repeating: " ", count: 4000) + token) == token)
    }

    /// Apple: no fixed size may be assumed.
    @Test func everyEvenLengthFrom32To512IsAToken() {
        for length in 0...520 {
            let text = String(repeating: "a", count: length)
            let isToken = length % 2 == 0 && length >= 32 && length <= 512
            #expect(normalise(text) == (isToken ? text : nil), "\(length)")
        }
    }

    @Test func everyOtherByteAnywhereIsRefused() {
        let allowed = Set("0123456789abcdefABCDEF <>".utf8)
        let bytes = Array(token.utf8)
        for byte in UInt8.min...UInt8.max where !allowed.contains(byte) {
            for index in [0, 1, 15, 16, 31, 33, 62, 63] {
                var changed = bytes
                changed[index] = byte
                #expect(normalise(changed) == nil, "byte \(byte) at \(index)")
            }
        }
    }

    @Test(arguments: [
        "", " ", "<>", "null", "0x740f4707bebcf74f9b7c25d48e335894",
        "dA0PR0e-vPdPm3wl1I4zWJRfaqAdpd2zh0Ysfq9hu3it", "740f4707-bebc-f74f-9b7c-25d48e335894",
    ])
    func textThatIsNoHexIsRefused(text: String) {
        #expect(normalise(text) == nil)
    }

    /// Against Swift's own reading of the same rules.
    @Test func agreesWithTheRulesOnRandomText() {
        var random = SeededGenerator(seed: testSeed)
        let alphabet = Array("0123456789abcdefABCDEF <>".utf8)
        for round in 0..<3000 {
            let length = Int.random(in: 20...600, using: &random)
            var raw = (0..<length).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            if round % 4 == 0 { raw[length / 2] = UInt8.random(in: 0...255, using: &random) }
            let kept = String(decoding: raw, as: UTF8.self)
                .filter { !" <>".contains($0) }.lowercased()
            let isToken =
                kept.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
                && kept.utf8.count % 2 == 0 && (32...512).contains(kept.utf8.count)
            #expect(normalise(raw) == (isToken ? kept : nil))
        }
    }

    @Test func theShortFormNeverShowsAWholeToken() {
        #expect(withBytes(token, DeviceToken.shortened) == "740f4707…bb78ad")
        #expect(withBytes("", DeviceToken.shortened) == "(0 characters)")
        #expect(withBytes("abcdef0123", DeviceToken.shortened) == "(10 characters)")
    }
}

@Suite struct TokenDigestTests {
    /// draft-eastlake-fnv, the test values of FNV-1a with 64 bits.
    @Test(
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("b", 0xaf63_df4c_8601_f1a5),
            ("foo", 0xdcb2_7518_fed9_d577),
            ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func hasThePublishedValues(text: String, digest: UInt64) {
        #expect(withBytes(text, TokenDigest.fnv1a64) == digest)
    }

    @Test func theTextHasSixteenDigits() {
        #expect(TokenDigest.text(0) == "0000000000000000")
        #expect(TokenDigest.text(0xab) == "00000000000000ab")
        #expect(TokenDigest.text(.max) == "ffffffffffffffff")
    }
}
