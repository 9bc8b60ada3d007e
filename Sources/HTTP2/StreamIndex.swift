/// Finds the slot of an open stream by its number, in fixed memory.
///
/// A stream's place is its number, counted round the table, or the first free one behind it.
/// Streams begin in the order of their numbers and most end soon after, so nearly all stand at
/// their place, and those that are looked for one after the other stand side by side.
///
/// *Limits*: at most `capacity` streams, with which the table is at most half full.
struct StreamIndex: ~Copyable {
    private struct Cell {
        /// 0: the cell is free.
        var stream: Int32 = 0
        var slot: Int32 = 0
    }

    private let cells: UnsafeMutablePointer<Cell>  // owned
    private let mask: Int
    /// How far behind its place any stream has ever stood: no search goes further.
    private var distanceMax = 0

    init(capacity: Int) {
        var cellCount = 1
        while cellCount < 2 * capacity { cellCount *= 2 }
        cells = .allocate(capacity: cellCount)
        cells.initialize(repeating: Cell(), count: cellCount)
        mask = cellCount - 1
    }

    deinit { cells.deallocate() }

    /// The slot of a stream; nil when it is not open.
    func slot(of stream: Int32) -> Int? {
        guard let cell = cell(of: stream) else { return nil }
        return Int(cells[cell].slot)
    }

    /// *Limits*: the stream must be new, and not 0.
    mutating func insert(_ stream: Int32, slot: Int) {
        var distance = 0
        while cells[place(stream, distance)].stream != 0 { distance += 1 }
        distanceMax = max(distanceMax, distance)
        cells[place(stream, distance)] = Cell(stream: stream, slot: Int32(slot))
    }

    /// Frees the cell of a stream.
    func remove(_ stream: Int32) {
        guard let cell = cell(of: stream) else { return }
        cells[cell] = Cell()
    }

    private func cell(of stream: Int32) -> Int? {
        for distance in 0...distanceMax where cells[place(stream, distance)].stream == stream {
            return place(stream, distance)
        }
        return nil
    }

    /// Only odd numbers are ours: the lowest bit says nothing.
    private func place(_ stream: Int32, _ distance: Int) -> Int {
        (Int(stream) >> 1 + distance) & mask
    }
}
