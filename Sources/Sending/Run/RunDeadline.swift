internal import APNS
internal import Campaign

/// The instant after which a run sends nothing any more: `stopWhen.deadline`, or the one from which
/// on APNs would not deliver (`expiration`), whichever comes first.
struct RunDeadline: Sendable, Equatable {
    let key: String
    /// Since 1970.
    let milliseconds: Int64

    /// - Parameter startedAt: the moment of the run's first start.
    init?(_ campaign: Campaign, startedAt: Timestamp) {
        var instants: [(String, Int64)] = []
        if let deadline = campaign.stopWhen.deadline {
            instants.append(("stopWhen.deadline", deadline))
        }
        switch campaign.expiration {
        case nil, .zero: break
        case .after(let seconds): instants.append(("expiration", startedAt.seconds + seconds))
        case .at(let seconds): instants.append(("expiration", seconds))
        }
        guard let first = instants.min(by: { $0.1 < $1.1 }) else { return nil }
        key = first.0
        milliseconds = first.1 * 1000
    }

    /// Refuses to start, or to go on with, a run whose deadline has passed.
    static func check(_ campaign: Campaign, _ options: SendOptions) throws(SendError) {
        let now = Timestamp.now()
        // What is wrong with the record itself is said by whoever opens the run.
        let record = options.resumes ? try? RunRecord.read(options.runDirectory + "/run.json") : nil
        let deadline = RunDeadline(campaign, startedAt: record?.startedAt ?? now)
        if let deadline, deadline.hasPassed(now) { throw deadline.refusal(campaign) }
    }

    func hasPassed(_ now: Timestamp) -> Bool { now.milliseconds >= milliseconds }

    /// The end of a run that came to it.
    var stop: SendError {
        SendError(
            .stopped,
            "\(text) has come; set a later one and go on with --resume, or leave it at that")
    }

    /// Refuses a run that would begin behind it.
    func refusal(_ campaign: Campaign) -> SendError {
        SendError(
            .refused,
            "\(campaign.manifestPath): \(text) has passed; set a later one, or remove the key")
    }

    private var text: String { "\(key): \(Timestamp(milliseconds: milliseconds).rfc3339)" }
}
