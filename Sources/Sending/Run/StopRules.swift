internal import Campaign

/// The rules that stop a campaign by its answers, as pure code: answers in, verdicts out.
///
/// The workers of a run share one of these. A worker tells of each failure at once, and of answers
/// with 200 in batches of at most ``acceptedBatchMax``; only as long as the first answers are
/// watched, each by itself. So the last answers are those of the run, and what one worker was
/// answered comes in its order, but between two workers the order is only as fine as the batches.
struct StopRules: Sendable {
    /// A failure as the rules see it.
    enum Failure: Sendable {
        /// BadDeviceToken: of another environment?
        case wrongEnvironment
        /// DeviceTokenNotForTopic: of another app?
        case wrongTopic
        /// 410: says something about the device and nothing about the campaign.
        case gone
        case other
    }

    enum Rule: Sendable, Equatable { case badDeviceToken, failures }

    static let acceptedBatchMax = 64

    let settings: StopWhen
    /// The rule that has stopped the run.
    private(set) var fired: Rule?
    /// Whether BadDeviceToken may still fire its rule.
    private(set) var watchesFirst: Bool
    /// Answers among the first, and the wrong tokens among them.
    private(set) var firstAnswers = 0
    private(set) var wrongEnvironments = 0
    private(set) var wrongTopics = 0
    /// Answers that the failure share is taken of: all but 410.
    private(set) var answers: UInt64 = 0
    private(set) var failuresInWindow = 0
    /// The last answers in a ring; true is a failure.
    private var window: [Bool]

    init(_ settings: StopWhen) {
        self.settings = settings
        watchesFirst = settings.badDeviceToken != nil
        window = [Bool](repeating: false, count: settings.failures?.answers ?? 0)
    }

    mutating func accepted(_ count: Int) {
        guard fired == nil else { return }
        for _ in 0..<count { pushLast(isFailure: false) }
        countFirst(count)
    }

    /// - Returns: how many answers must have come before this one is final, whatever else.
    mutating func failed(_ failure: Failure) -> UInt64 {
        guard fired == nil else { return answers + UInt64(window.count) }
        if watchesFirst {
            if failure == .wrongEnvironment { wrongEnvironments += 1 }
            if failure == .wrongTopic { wrongTopics += 1 }
        }
        if failure != .gone { pushLast(isFailure: true) }
        countFirst(1)
        return answers + UInt64(window.count)
    }

    private mutating func countFirst(_ count: Int) {
        guard watchesFirst, let share = settings.badDeviceToken else { return }
        firstAnswers += count
        let wrong = wrongEnvironments + wrongTopics
        if firstAnswers >= StopWhen.badDeviceTokenAnswersMin,
            wrong * 100 >= share.percent * firstAnswers
        {
            fired = fired ?? .badDeviceToken
        } else if firstAnswers >= share.answers {
            watchesFirst = false
        }
    }

    private mutating func pushLast(isFailure: Bool) {
        guard let share = settings.failures else { return }
        let place = Int(answers % UInt64(share.answers))
        if window[place] { failuresInWindow -= 1 }
        window[place] = isFailure
        if isFailure { failuresInWindow += 1 }
        answers += 1
        if isFailure, answers >= UInt64(share.answers),
            failuresInWindow * 100 >= share.percent * share.answers
        {
            fired = fired ?? .failures
        }
    }
}

/// Answers that every row would get until a person corrects something: how many came from any
/// connection since the last 200.
struct ConfigurationAnswers: Sendable {
    /// So many in a row stop the run.
    static let inARowMax = 5

    private(set) var inARow = 0
    /// How often a 200 came behind such answers: rows that were held before are about themselves.
    private(set) var clearings = 0

    /// - Returns: whether the run has to stop.
    mutating func count() -> Bool {
        inARow += 1
        return inARow == Self.inARowMax
    }

    mutating func clear() {
        guard inARow > 0 else { return }
        inARow = 0
        clearings += 1
    }
}
