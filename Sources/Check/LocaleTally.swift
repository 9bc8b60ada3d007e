internal import Campaign

/// Counts rows by what they say as their locale.
///
/// - Memory: a fixed number of texts; rows of further ones are counted together.
struct LocaleTally {
    /// The world has some 200 languages with a code of two letters; with their regions, some 700
    /// are in use.
    private static let entriesMax = 1024
    private static let textsMax = 768
    private static let textBytesMax = LocaleForm.bytesMax

    private struct Entry {
        var rows: UInt64 = 0
        var firstRow: UInt64 = 0
        var payloadIndex: Int32 = 0
        var textBytes: Int32 = 0
    }

    private let entries: UnsafeMutablePointer<Entry>  // owned
    private let texts: UnsafeMutableRawBufferPointer  // owned; textBytesMax for each entry
    private var usedCount = 0
    private var latest = 0
    private(set) var otherRows: UInt64 = 0

    init() {
        entries = .allocate(capacity: Self.entriesMax)
        entries.initialize(repeating: Entry(), count: Self.entriesMax)
        texts = .allocate(byteCount: Self.entriesMax * Self.textBytesMax, alignment: 16)
    }

    func deallocate() {
        entries.deallocate()
        texts.deallocate()
    }

    /// Counts a row. Allocates nothing. Rows come in their order.
    mutating func add(_ text: UnsafeRawBufferPointer, row: UInt64, payloadIndex: Int) {
        guard text.count <= Self.textBytesMax else {
            otherRows += 1
            return
        }
        var index = latest
        if !holds(index, text) {
            index = Self.hash(text) & (Self.entriesMax - 1)
            while entries[index].rows > 0, !holds(index, text) {
                index = (index + 1) & (Self.entriesMax - 1)
            }
        }
        if entries[index].rows == 0 {
            guard usedCount < Self.textsMax else {
                otherRows += 1
                return
            }
            usedCount += 1
            entries[index] = Entry(
                firstRow: row, payloadIndex: Int32(payloadIndex), textBytes: Int32(text.count))
            UnsafeMutableRawBufferPointer(rebasing: texts[(index * Self.textBytesMax)...])
                .copyMemory(from: text)
        }
        entries[index].rows += 1
        latest = index
    }

    private func holds(_ index: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        guard entries[index].rows > 0, Int(entries[index].textBytes) == text.count else {
            return false
        }
        let start = index * Self.textBytesMax
        for offset in 0..<text.count where texts[start + offset] != text[offset] { return false }
        return true
    }

    /// FNV-1a; the texts are the user's own, so there is nobody to guard against.
    private static func hash(_ text: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash >> 32)
    }

    /// A locale that was counted, in the form in which locales are compared.
    struct Count {
        var text: String
        var rows: UInt64
        var firstRow: UInt64
        let payloadIndex: Int
    }

    /// Adds the counts to those of others. Different spellings of one locale become one.
    func merge(into counts: inout [[UInt8]: Count]) {
        for index in 0..<Self.entriesMax where entries[index].rows > 0 {
            let entry = entries[index]
            let start = index * Self.textBytesMax
            let text = String(
                decoding: texts[start..<start + Int(entry.textBytes)], as: UTF8.self)
            let form = LocaleForm.of(text)
            guard var count = counts[form] else {
                counts[form] = Count(
                    text: text, rows: entry.rows, firstRow: entry.firstRow,
                    payloadIndex: Int(entry.payloadIndex))
                continue
            }
            count.rows += entry.rows
            if entry.firstRow < count.firstRow {
                count.firstRow = entry.firstRow
                count.text = text
            }
            counts[form] = count
        }
    }
}
