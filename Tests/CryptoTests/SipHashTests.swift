import Foundation
import TestSupport
import Testing

@testable import Crypto

@Suite struct SipHashTests {
    @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 63, 64, 100])
    func agreesWithOpenSSL(length: Int) throws {
        var random = SeededGenerator(seed: testSeed &+ UInt64(length))
        let key = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        let message = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
        let folder = TemporaryDirectory()
        let path = folder.write(message, to: "message")

        let (low, high) = message.withUnsafeBytes { SipHash128(key: key).hash($0) }

        #expect(try opensslSipHash(path, key: key) == hex(low) + hex(high))
    }

    @Test func hashOfANumberIsTheHashOfItsBytes() {
        let hash = SipHash128(key: Array(0..<16))
        let number: UInt64 = 0x0102_0304_0506_0708
        let ofBytes = withUnsafeBytes(of: number.littleEndian) { hash.hash($0) }
        #expect(hash.hash(number) == ofBytes)
    }

    /// The word's bytes in memory order, as 16 upper-case hex digits.
    private func hex(_ word: UInt64) -> String {
        withUnsafeBytes(of: word.littleEndian) { bytes in
            bytes.map { String(format: "%02X", $0) }.joined()
        }
    }

    private func opensslSipHash(_ path: String, key: [UInt8]) throws -> String {
        let keyText = key.map { String(format: "%02x", $0) }.joined()
        return try Subprocess.openssl(
            "mac", "-macopt", "hexkey:\(keyText)", "-macopt", "size:16", "-in", path, "SIPHASH"
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
