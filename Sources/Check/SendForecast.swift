/// What sending would take, as far as it can be known beforehand.
package struct SendForecast: Sendable {
    /// The pace, as options and manifest say.
    package struct Pace: Sendable {
        /// "adaptive", "gentle" or "unlimited".
        package let mode: String
        /// Notifications per second for the whole run, at most; 0: no bound.
        package let rate: Double
        /// The same for each connection.
        package let connectionRate: Double
        package let connections: Int

        package init(mode: String, rate: Double, connectionRate: Double, connections: Int) {
            self.mode = mode
            self.rate = rate
            self.connectionRate = connectionRate
            self.connections = connections
        }

        /// Notifications per second that the bounds allow; nil where there is no bound.
        package var ratePerSecondMax: Double? {
            let bounds = [rate, connectionRate * Double(connections)].filter { $0 > 0 }
            return bounds.min()
        }
    }

    /// Bytes of a request beside its payload, token, apns-id and collapse id: two frame heads (18),
    /// a provider token (some 190, less when it is Huffman-coded), and the constant headers, which
    /// a connection sends in full only once. With TLS on top it comes out within a seventh.
    private static let requestBytes: UInt64 = 200
    /// An `apns-id`: 36 characters, with the bytes that say so.
    private static let apnsIDBytes: UInt64 = 38

    package let pace: Pace
    /// Notifications that would be sent, without retries.
    package let requests: UInt64
    /// Bytes to the service, about.
    package let bytes: UInt64

    /// - Parameters:
    ///   - skipsRepeated: whether a token that stands in several rows is sent to once.
    ///   - hasAPNSID: whether each request carries an id.
    package init(_ facts: CheckFacts, pace: Pace, skipsRepeated: Bool, hasAPNSID: Bool) {
        self.pace = pace
        requests = facts.validCount - (skipsRepeated ? facts.repeatedCount : 0)
        let each = Self.requestBytes + (hasAPNSID ? Self.apnsIDBytes : 0)
        let values = facts.sizes.totalBytes + facts.tokenBytes + facts.collapseIDBytes
        // Of all rows that could be sent; those of repeated tokens are as long as the others.
        let all = Double(values + each * facts.validCount)
        bytes =
            facts.validCount == 0
            ? 0 : UInt64((all * Double(requests) / Double(facts.validCount)).rounded())
    }

    /// Seconds that the pace alone takes; nil where it sets no bound.
    package var secondsMin: Double? {
        pace.ratePerSecondMax.map { Double(requests) / $0 }
    }
}
