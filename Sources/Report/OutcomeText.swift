internal import APNS

/// The outcomes in the words of the person whose campaign it is.
enum OutcomeText {
    static func words(for outcome: Outcome) -> String {
        switch outcome {
        case .accepted: "accepted by APNs"
        case .unregistered: "no longer registered"
        case .rejected: "rejected by APNs"
        case .exhausted: "given up after several attempts"
        case .unknown: "without an answer: accepted or not, nobody knows"
        case .invalid: "unusable rows, not sent"
        case .duplicate: "repeated tokens, sent once"
        case .suppressed: "on a suppression list, not sent"
        case .heldOut: "held out on purpose, not sent"
        }
    }

    /// Whether rows of this outcome did not get what the campaign wanted for them.
    static func isFailure(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .unregistered, .rejected, .exhausted, .unknown, .invalid: true
        case .accepted, .duplicate, .suppressed, .heldOut: false
        }
    }
}
