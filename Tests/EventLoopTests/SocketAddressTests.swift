import EventLoop
import Glibc
import Testing

struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1:2197"), ("::1", "[::1]:2197"), ("10.1.2.3", "10.1.2.3:2197"),
        ("2001:DB8:0::7", "[2001:db8::7]:2197"),
    ])
    func readsNumericHosts(host: String, text: String) throws {
        let address = try #require(SocketAddress.parse(numericHost: host, port: 2197))
        #expect(address.description == text)
        #expect(address.port == 2197)
        #expect(address.family == (host.contains(":") ? AF_INET6 : AF_INET))
    }

    @Test(arguments: ["", "localhost", "127.1", "127.0.0.256", "[::1]", "::1%lo", "0x7f.0.0.1"])
    func refusesAllElse(host: String) {
        #expect(SocketAddress.parse(numericHost: host, port: 1) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.3.4", true), ("128.0.0.1", false), ("0.0.0.0", false),
        ("::1", true), ("::", false), ("::2", false), ("::ffff:127.0.0.1", true),
        ("::ffff:10.0.0.1", false), ("fe80::1", false),
    ])
    func knowsLoopback(host: String, isLoopback: Bool) throws {
        let address = try #require(SocketAddress.parse(numericHost: host, port: 1))
        #expect(address.isLoopback == isLoopback)
    }

    @Test func equalityIsByAddressAndPort() {
        let one = SocketAddress.parse(numericHost: "127.0.0.1", port: 1)
        #expect(one == SocketAddress.parse(numericHost: "127.0.0.1", port: 1))
        #expect(one != SocketAddress.parse(numericHost: "127.0.0.1", port: 2))
        #expect(one != SocketAddress.parse(numericHost: "::ffff:127.0.0.1", port: 1))
    }
}
