import EventLoop
import Testing
import Transport

@testable import Load

/// B75: a load test goes to servers that are made for it, and never to Apple.
struct LoadTargetTests {
    private func refusal(_ host: String, isOwned: Bool) throws -> String? {
        let target = LoadTarget(isOwned: isOwned)
        if let refusal = target.refusal(host: host) { return refusal }
        let address = try #require(SocketAddress.parse(numericHost: host, port: 443))
        return target.refusal(address: address)
    }

    @Test(arguments: [
        "api.push.apple.com", "API.Push.Apple.COM", "api.push.apple.com.", "api.push.apple.com..",
        "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "api-sandbox.push.apple.com",
        "gateway.push.apple.com", "apple.com", "Apple.com.", "1-courier.push.apple.com",
        "api.push-apple.com.akadns.net", "us-sandbox-courier-4.push-apple.com.akadns.net",
    ])
    func applesHostsAreRefusedWhateverIsOwned(host: String) {
        for isOwned in [false, true] {
            let refusal = LoadTarget(isOwned: isOwned).refusal(host: host)
            #expect(refusal?.contains("Apple") == true)
        }
    }

    @Test(arguments: [
        "17.188.143.34", "17.0.0.1", "17.255.255.255", "::ffff:17.188.143.34", "::17.1.2.3",
        "64:ff9b::17.188.143.34", "2620:149:a44:304::1", "2403:300:a42:100::2", "2403:300:a51::1",
        "2a01:b740:a42:1::1",
    ])
    func applesAddressesAreRefusedWhateverIsOwned(address: String) throws {
        for isOwned in [false, true] {
            #expect(try refusal(address, isOwned: isOwned)?.contains("Apple") == true)
        }
    }

    @Test(arguments: [
        "192.0.2.1", "10.0.0.1", "0.0.0.0", "126.255.255.255", "128.0.0.1", "::", "::2", "fe80::1",
        "2001:db8::1", "::ffff:192.0.2.1", "169.254.169.254",
    ])
    func otherMachinesHaveToBeOwned(address: String) throws {
        let text = try #require(try refusal(address, isOwned: false))
        #expect(text.contains("--i-own-this-server"))
        #expect(try refusal(address, isOwned: true) == nil)
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
    func thisMachineIsWelcome(address: String) throws {
        #expect(try refusal(address, isOwned: false) == nil)
    }

    @Test(arguments: ["apple.com.example.org", "pineapple.com", "notapple.com", "localhost"])
    func otherNamesAreDecidedByTheirAddresses(host: String) {
        #expect(LoadTarget(isOwned: false).refusal(host: host) == nil)
    }
}
