internal import APNS
internal import Measure

/// What one worker of a load test counts. The worker writes, anybody reads.
final class LoadCounters: Sendable {
    enum Counter: Int, CaseIterable {
        /// Requests of the schedule that went to a connection, each once.
        case sent
        /// Requests that were answered with 200; with something else or not at all.
        case accepted, failed
        /// Requests that went again, because the server had certainly not looked at them.
        case again
        /// Requests that are in flight now.
        case inFlight
        /// Requests that were due a tenth of a second ago and still wait for room.
        case behind
        /// Streams that a connection may have open, as it was when none was free; 0: never.
        case streamsAllowed
        /// The requests that open a connection; they are no part of the schedule.
        case warmUps
        case connectionsOpened, connectionsGoAway, connectionsLost
        case bytesSent
    }

    /// Why a request failed that was not answered with another status.
    static let refused = FinalCode.exhaustedStreamReset
    /// Not waited for any longer when the test was interrupted.
    static let unanswered = FinalCode.unknownOther
    private static let plainCount = Counter.allCases.count
    private static let statusMax = 999

    private let slab = CounterSlab(count: plainCount + 256 + statusMax + 1)

    func add(_ amount: UInt64, to counter: Counter) { slab.add(amount, at: counter.rawValue) }
    func set(_ value: UInt64, to counter: Counter) { slab.set(value, at: counter.rawValue) }
    subscript(counter: Counter) -> UInt64 { slab[counter.rawValue] }

    /// Counts a failure: by its code where the reason is known, else by its status.
    func countFailure(status: UInt16, code: FinalCode?) {
        add(1, to: .failed)
        let place = code.map { Int($0.rawValue) } ?? 256 + min(Int(status), Self.statusMax)
        slab.add(1, at: Self.plainCount + place)
    }

    /// What failed, most frequent first.
    static func failures(of all: [LoadCounters]) -> [LoadSummary.Failure] {
        var failures: [LoadSummary.Failure] = []
        for place in 0...255 + statusMax + 1 {
            let count = all.reduce(0) { $0 + $1.slab[plainCount + place] }
            guard count > 0 else { continue }
            failures.append(failure(place: place, count: count))
        }
        return failures.sorted { $1.count < $0.count }
    }

    private static func failure(place: Int, count: UInt64) -> LoadSummary.Failure {
        guard place < 256 else {
            return LoadSummary.Failure(status: place - 256, reason: "", count: count)
        }
        let code = FinalCode(rawValue: UInt8(place))
        let reason =
            switch code {
            case refused: "RefusedStream"
            case unanswered: "Unanswered"
            default: "\(code.reason)"
            }
        return LoadSummary.Failure(status: Int(code.status), reason: reason, count: count)
    }
}
