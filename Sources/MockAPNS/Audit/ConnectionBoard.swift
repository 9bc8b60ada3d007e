internal import JSON
internal import Measure

/// What one worker's connections have done, readable while they do it.
///
/// *Thread*: the worker writes, anybody reads; a reader may see a connection in the middle of a
/// turn. *Limits*: one place for each connection that may be open, and `closedKept` for the latest
/// that have closed, which keep theirs until it is needed.
final class ConnectionBoard: Sendable {
    /// After a campaign all connections are closed, and their numbers are what one wants to see.
    private static let closedKept = 64

    enum Field: Int, CaseIterable {
        /// The connection's number, from 1; 0 for a place that was never used.
        case number
        case isOpen, requests, streamsOpen, resets, goAways, bytesReceived, bytesSent
    }

    private let slab: CounterSlab
    let placeCount: Int

    init(connectionsMax: Int) {
        placeCount = connectionsMax + Self.closedKept
        slab = CounterSlab(count: placeCount * Field.allCases.count)
    }

    func set(_ value: UInt64, _ field: Field, of place: Int) {
        slab.set(value, at: at(field, place))
    }

    func add(_ field: Field, of place: Int) { slab.add(1, at: at(field, place)) }

    func value(_ field: Field, of place: Int) -> UInt64 { slab[at(field, place)] }

    private func at(_ field: Field, _ place: Int) -> Int {
        place * Field.allCases.count + field.rawValue
    }

    /// One object for each connection, the open ones first; at most `countMax`.
    static func write(_ boards: [ConnectionBoard], countMax: Int, to writer: inout JSONWriter) {
        var left = countMax
        writer.beginArray()
        for isOpen: UInt64 in [1, 0] {
            for board in boards {
                for place in 0..<board.placeCount
                where left > 0 && board.value(.number, of: place) > 0
                    && board.value(.isOpen, of: place) == isOpen
                {
                    board.write(place, to: &writer)
                    left -= 1
                }
            }
        }
        writer.endArray()
    }

    private func write(_ place: Int, to writer: inout JSONWriter) {
        writer.beginObject()
        for field in Field.allCases {
            writer.key(field == .isOpen ? "open" : "\(field)")
            if field == .isOpen {
                writer.bool(value(field, of: place) == 1)
            } else {
                writer.number(value(field, of: place))
            }
        }
        writer.endObject()
    }
}

/// Gives the places of a board to connections. *Thread*: the worker's.
struct ConnectionPlaces {
    let board: ConnectionBoard
    /// The place that has been free for the longest is taken first. Two stacks make the queue.
    private var free: [Int]
    private var freed: [Int] = []
    /// Numbers are unique over all workers: worker i of n counts i + 1, i + 1 + n, …
    private var nextNumber: UInt64
    private let step: UInt64

    init(board: ConnectionBoard, worker: Int, workers: Int) {
        self.board = board
        free = (0..<board.placeCount).reversed()
        nextNumber = UInt64(worker) + 1
        step = UInt64(workers)
    }

    /// A place, with its fields cleared. There is always one: a worker has fewer connections.
    mutating func take() -> Int {
        if free.isEmpty { (free, freed) = (freed.reversed(), []) }
        let place = free.removeLast()
        for field in ConnectionBoard.Field.allCases { board.set(0, field, of: place) }
        board.set(nextNumber, .number, of: place)
        board.set(1, .isOpen, of: place)
        nextNumber += step
        return place
    }

    mutating func giveBack(_ place: Int) {
        board.set(0, .isOpen, of: place)
        board.set(0, .streamsOpen, of: place)
        freed.append(place)
    }
}
