/// What became of a row, in one word of the report.
package enum Outcome: UInt8, Sendable, CaseIterable {
    /// APNs answered 200: accepted for delivery. Nobody can know that it was shown.
    case accepted
    /// The token is dead: 410, or 400 BadDeviceToken.
    case unregistered
    /// Another final answer of the 4xx kind.
    case rejected
    /// Transient failures until the attempts ran out.
    case exhausted
    /// On the wire and never answered, and the campaign says not to send it again.
    case unknown
    /// The row could not be turned into a request; nothing was sent.
    case invalid
    /// Another row with the same token is the one that is sent.
    case duplicate
    /// The token is on a suppression list.
    case suppressed
    /// The token was chosen for the share that gets nothing.
    case heldOut

    /// The name in the report and in the run's files.
    package var name: String {
        switch self {
        case .accepted: "accepted"
        case .unregistered: "unregistered"
        case .rejected: "rejected"
        case .exhausted: "exhausted"
        case .unknown: "unknown"
        case .invalid: "invalid"
        case .duplicate: "duplicate"
        case .suppressed: "suppressed"
        case .heldOut: "heldOut"
        }
    }
}
