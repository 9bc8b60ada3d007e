/// Where the provider API is served. Apple, "Sending notification requests to APNs".
package enum APNSHost {
    /// For apps from the App Store and TestFlight.
    package static let production = "api.push.apple.com"
    /// For apps run from Xcode: their tokens are others.
    package static let sandbox = "api.sandbox.push.apple.com"
    /// The usual port.
    package static let port: UInt16 = 443
    /// A device push is posted to this path and the token in hexadecimal.
    package static let pathPrefix = "/3/device/"
}
