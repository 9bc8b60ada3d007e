import Testing
import Transport

@testable import Sending

/// How many connections are opened in a second, and where to.
struct ConnectionOpeningsTests {
    private static let second: UInt64 = 1_000_000_000

    /// Openings within `seconds` by someone who wants as many as possible, looking every 10 ms.
    private func openings(of openings: ConnectionOpenings, seconds: UInt64) -> [UInt64] {
        var times: [UInt64] = []
        for nowNs in stride(
            from: 10 * Self.second, to: (10 + seconds) * Self.second, by: 10_000_000)
        {
            while openings.waitNs(nowNs: nowNs) == 0 { times.append(nowNs) }
        }
        return times
    }

    /// B65, B79: the first at once, then one a second for the whole run.
    @Test(arguments: [
        "api.push.apple.com", "API.sandbox.push.apple.com", "api.development.push.apple.com.",
    ])
    func openingsForApplesHostsAreStaggered(host: String) {
        let apple = ConnectionOpenings(endpoint: Endpoint(host: host, port: 443))
        let times = openings(of: apple, seconds: 5)
        #expect(times == [10, 11, 12, 13, 14].map { $0 * Self.second })
        #expect(apple.waitNs(nowNs: 14 * Self.second + 250_000_000) == 750_000_000)
    }

    /// B70: fifty at once, then fifty a second.
    @Test(arguments: ["127.0.0.1", "apns.example.com", "push.apple.com.example.com"])
    func openingsForOtherHostsAreCapped(host: String) {
        let other = ConnectionOpenings(endpoint: Endpoint(host: host, port: 443))
        let times = openings(of: other, seconds: 3)
        #expect(times.prefix(50).allSatisfy { $0 == 10 * Self.second })
        #expect((199...200).contains(times.count))
    }

    /// B69
    @Test func applesHostsHaveTwoPorts() {
        let openings = ConnectionOpenings(endpoint: Endpoint(host: "api.push.apple.com", port: 443))
        #expect(openings.target.port == 443)
        #expect(openings.switchPort(from: openings.target))
        #expect(openings.target == Endpoint(host: "api.push.apple.com", port: 2197))
        // Another worker's attempt at the first port fails later: the second is still to be tried.
        #expect(openings.switchPort(from: Endpoint(host: "api.push.apple.com", port: 443)))
        #expect(openings.target.port == 2197)
        #expect(!openings.switchPort(from: openings.target))
        #expect(openings.target.port == 443)
    }

    @Test func aPortThatTheUserChoseHasNoOther() {
        for endpoint in [
            Endpoint(host: "api.push.apple.com", port: 8443),
            Endpoint(host: "127.0.0.1", port: 443),
        ] {
            let openings = ConnectionOpenings(endpoint: endpoint)
            #expect(!openings.switchPort(from: endpoint))
            #expect(openings.target == endpoint)
        }
    }
}
