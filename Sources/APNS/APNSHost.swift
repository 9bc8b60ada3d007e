/// Where the provider API is served. Apple, "Sending notification requests to APNs".
package enum APNSHost {
    /// For apps from the App Store and TestFlight.
    package static let production = "api.push.apple.com"
    /// For apps run from Xcode: their tokens are others.
    package static let sandbox = "api.sandbox.push.apple.com"
    /// The usual port.
    package static let port: UInt16 = 443
    /// The other one, for networks whose firewall keeps port 443 for browsers.
    package static let alternatePort: UInt16 = 2197
    /// A device push is posted to this path and the token in hexadecimal.
    package static let pathPrefix = "/3/device/"

    /// Whether a server of Apple's has this name; older names end in the same way.
    package static func isApples(_ host: String) -> Bool {
        let name = host.lowercased()
        return name.hasSuffix(".push.apple.com") || name.hasSuffix(".push.apple.com.")
    }

    /// The port by which the same server can be reached, too; nil when that is not known.
    package static func otherPort(host: String, port: UInt16) -> UInt16? {
        guard isApples(host) else { return nil }
        switch port {
        case self.port: return alternatePort
        case alternatePort: return self.port
        default: return nil
        }
    }
}
