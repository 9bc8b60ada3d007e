import APNS
import Foundation
import TestSupport
import Testing

@Suite struct ExpirationHeaderTests {
    /// Lesson B93: 64 bits, and 0 only when it is meant.
    @Test(
        arguments: [
            ("0", 0), ("1700000000", 1_700_000_000), ("4102444800", 4_102_444_800),
            ("9223372036854775807", Int64.max), ("007", 7),
        ] as [(String, Int64)])
    func readsSeconds(text: String, seconds: Int64) {
        #expect(withBytes(text, ExpirationHeader.parse) == seconds)
        if text != "007" { #expect(ExpirationHeader.value(unixSeconds: seconds) == text) }
    }

    @Test(arguments: [
        "", "-1", "+1", " 1", "1 ", "1.5", "1e9", "tomorrow", "9223372036854775808",
        "99999999999999999999", "0000000000000000000000001",
    ])
    func refusesEverythingElse(text: String) {
        #expect(withBytes(text, ExpirationHeader.parse) == nil)
    }
}

@Suite struct APNSIDTests {
    private func write(_ high: UInt64, _ low: UInt64) -> String {
        var output = [UInt8](repeating: 0, count: APNSID.characters)
        output.withUnsafeMutableBytes { APNSID.write(high: high, low: low, into: $0) }
        return String(decoding: output, as: UTF8.self)
    }

    /// RFC 9562 appendix B.1: the example of a UUID of version 8.
    @Test func hasTheFormOfTheRFC() {
        let text = "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0"
        #expect(write(0x2489_E9AD_2EE2_8E00, 0x8EC9_32D5_F691_81C0) == text)
        // Version and variant are set whatever the bits were.
        #expect(write(0x2489_E9AD_2EE2_FE00, 0x4EC9_32D5_F691_81C0) == text)
        #expect(write(.max, .max) == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(write(0, 0) == "00000000-0000-8000-8000-000000000000")
    }

    /// Lesson B86: canonical and lower case; Foundation judges.
    @Test func randomBitsAreUUIDsInLowerCase() {
        var random = SeededGenerator(seed: testSeed)
        for _ in 0..<200 {
            let text = write(random.next(), random.next())
            #expect(UUID(uuidString: text)?.uuidString.lowercased() == text)
            #expect(withBytes(text, APNSID.isCanonical))
            #expect(withBytes(text.uppercased(), APNSID.isCanonical))
        }
    }

    @Test(arguments: [
        "", "2489e9ad2ee28e008ec932d5f69181c0", "{2489e9ad-2ee2-8e00-8ec9-32d5f69181c}",
        "2489e9ad-2ee2-8e00-8ec9-32d5f69181c", "2489e9ad-2ee2-8e00-8ec9-32d5f69181c00",
        "2489e9ad-2ee2-8e00-8ec9-32d5f69181cg", "2489e9ad-2ee2-8e00-8ec9132d5f69181c0",
        "2489e9a--2ee2-8e00-8ec9-32d5f69181c0", " 489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
    ])
    func otherTextsAreNotCanonical(text: String) {
        #expect(!withBytes(text, APNSID.isCanonical))
    }
}
