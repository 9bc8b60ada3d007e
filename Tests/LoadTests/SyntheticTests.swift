import APNS
import Foundation
import Testing
import Transport

@testable import Load

struct SyntheticTests {
    private func token(_ request: UInt64, of count: UInt64) -> String {
        var text = [UInt8](repeating: 0, count: SyntheticTokens.characters)
        text.withUnsafeMutableBytes {
            SyntheticTokens(count: count).write(request: request, to: $0)
        }
        return String(decoding: text, as: UTF8.self)
    }

    @Test func tokensAreTokensAndDiffer() {
        var seen: Set<String> = []
        for request in 0..<20_000 as Range<UInt64> {
            let token = token(request, of: 1_000_000)
            #expect(token.utf8.count == 64)
            #expect(token.hasPrefix("10ad"))
            #expect(token.allSatisfy { $0.isHexDigit && !$0.isUppercase })
            seen.insert(token)
        }
        #expect(seen.count == 20_000)
    }

    /// B75: one token that gets many notifications is held back.
    @Test func noTokenIsHitMoreThanOnceAMinute() {
        let schedule = LoadSchedule(fromRate: 100, toRate: 2000, durationNs: 300_000_000_000)
        let options = LoadOptions(
            endpoint: Endpoint(host: "localhost", port: 2197), schedule: schedule)
        let count = options.tokenCount
        let last = schedule.requestCount - 1
        let gap = schedule.plannedNs(last) - schedule.plannedNs(last - count)
        #expect(gap >= 60_000_000_000)
    }

    @Test func tokensComeInTurn() {
        #expect(token(0, of: 3) != token(1, of: 3))
        #expect(token(0, of: 3) == token(3, of: 3))
        #expect(token(2, of: 3) == token(8, of: 3))
    }

    @Test(arguments: [SyntheticPayload.bytesMin, 21, 227, 4096])
    func payloadsAreJSONOfTheirSize(byteCount: Int) throws {
        let payload = SyntheticPayload.make(byteCount: byteCount)
        #expect(payload.count == byteCount)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(payload)) as? [String: [String: String]])
        #expect(object["aps"]?["alert"] != nil)
    }
}
