internal import CPrefetch
internal import Crypto
internal import Glibc
internal import Synchronization

/// The set of tokens that the run has claimed: each belongs to the row that came first.
///
/// An open-addressing table in a memory-mapped file, shared by all workers. An entry is two words:
/// 64 bits of the token's keyed hash, then 24 more bits of it with the 40-bit row number. 88 bits
/// make a false duplicate among 10⁸ tokens less likely than 10⁻¹⁰. The first word is claimed with a
/// compare-and-swap; the second follows at once, and whoever finds the first without the second
/// waits for it.
///
/// - Thread: ``claim(_:row:)`` from any worker; ``reserve(rows:)`` by the reader thread alone,
///   while no worker holds a chunk.
/// - Memory: file pages, not anonymous memory; 16 bytes × 1.5 per row.
package final class DuplicateTable: @unchecked Sendable {
    private typealias Word = Atomic<UInt64>

    private let path: String
    private let hash: SipHash128
    private var map: GrowingMap
    private var entryCount: UInt64
    private var words: UnsafeMutablePointer<Word>

    /// Rows that fit before the table must grow: two thirds of its entries.
    var rowCapacity: UInt64 { entryCount / 3 * 2 }

    /// Makes the table's file, which must not exist.
    ///
    /// - Parameters:
    ///   - key: 16 secret random bytes of this run.
    ///   - rows: how many rows to make room for.
    package init(path: String, key: [UInt8], rows: UInt64) throws(SendError) {
        self.path = path
        hash = SipHash128(key: key)
        entryCount = Self.entries(forRows: rows)
        map = try Self.makeMap(path: path, entryCount: entryCount)
        words = map.base.assumingMemoryBound(to: Word.self)
    }

    /// Claims `token` for `row`.
    ///
    /// - Returns: true when the token is this row's; false when another row has claimed it.
    package func claim(_ token: UnsafeRawBufferPointer, row: UInt64) -> Bool {
        claim(key(of: token), row: row)
    }

    /// What the table knows a token by; no table but the one that made it can use it.
    struct Key {
        fileprivate var hashWord: UInt64 = 1
        fileprivate var rowWord: UInt64 = 0
    }

    /// The key of a token that is going to be claimed. Its entry, which can be anywhere in a large
    /// table, begins to come from memory, and ought to be there when ``claim(_:row:)`` needs it.
    func key(of token: UnsafeRawBufferPointer) -> Key {
        let (first, second) = hash.hash(token)
        // Zero marks a free entry, so the one hash value of zero is stored as one.
        let hashWord = first == 0 ? 1 : first
        peal_prefetch_for_write(words + 2 * startIndex(of: hashWord))
        return Key(hashWord: hashWord, rowWord: second & ~Self.rowMask)
    }

    /// As ``claim(_:row:)`` with a token.
    func claim(_ key: Key, row: UInt64) -> Bool {
        claim(hashWord: key.hashWord, rowWord: key.rowWord | (row & Self.rowMask))
    }

    /// Whether any row has claimed `token`.
    func contains(_ token: UnsafeRawBufferPointer) -> Bool {
        let (first, second) = hash.hash(token)
        let hashWord = first == 0 ? 1 : first
        var index = startIndex(of: hashWord)
        while true {
            let found = words[2 * index].load(ordering: .acquiring)
            if found == 0 { return false }
            if found == hashWord, (settledRowWord(at: index) ^ second) & ~Self.rowMask == 0 {
                return true
            }
            index = index + 1 == Int(entryCount) ? 0 : index + 1
        }
    }

    /// Makes room for `rows` rows in all, by moving the entries to a larger file when they do not
    /// fit. The larger file takes the old one's place when it is whole and on the disk; when that
    /// fails, the table is as it was.
    func reserve(rows: UInt64) throws(SendError) {
        guard rows > rowCapacity else { return }
        do throws(SendError) { try move(forRows: rows) } catch {
            unlink(path + ".new")  // a full disk needs its space back
            throw error
        }
    }

    private func move(forRows rows: UInt64) throws(SendError) {
        let newCount = Self.entries(forRows: max(rows, rowCapacity * 2))
        let newPath = path + ".new"
        let newMap = try Self.makeMap(path: newPath, entryCount: newCount)
        let (oldMap, oldWords, oldCount) = (map, words, entryCount)
        use(newMap, entryCount: newCount)
        for index in 0..<Int(oldCount) {
            let hashWord = oldWords[2 * index].load(ordering: .relaxed)
            guard hashWord != 0 else { continue }
            _ = claim(
                hashWord: hashWord, rowWord: oldWords[2 * index + 1].load(ordering: .relaxed))
        }
        do throws(SendError) {
            try newMap.sync()
            guard rename(newPath, path) == 0 else {
                throw .file(.stopped, "replace the file", path, code: errno)
            }
        } catch {
            use(oldMap, entryCount: oldCount)
            throw error
        }
    }

    private func use(_ newMap: GrowingMap, entryCount newCount: UInt64) {
        map = newMap
        words = newMap.base.assumingMemoryBound(to: Word.self)
        entryCount = newCount
    }

    private static let rowMask: UInt64 = (1 << 40) - 1

    private static func entries(forRows rows: UInt64) -> UInt64 {
        max(rows, 1024) / 2 * 3 + 3
    }

    private static func makeMap(path: String, entryCount: UInt64) throws(SendError) -> GrowingMap {
        let bytes = Int(entryCount) * 16
        let map = try GrowingMap(path: path, capacityBytes: bytes)
        try map.grow(toBytes: bytes)
        map.preferLargePages()
        return map
    }

    private func claim(hashWord: UInt64, rowWord: UInt64) -> Bool {
        var index = startIndex(of: hashWord)
        while true {
            let hashCell = words + 2 * index
            let (claimed, found) = hashCell.pointee.compareExchange(
                expected: 0, desired: hashWord, ordering: .acquiringAndReleasing)
            if claimed {
                words[2 * index + 1].store(rowWord, ordering: .releasing)
                return true
            }
            if found == hashWord {
                let other = settledRowWord(at: index)
                if (other ^ rowWord) & ~Self.rowMask == 0 { return other == rowWord }
            }
            index = index + 1 == Int(entryCount) ? 0 : index + 1
        }
    }

    /// The high half of a product spreads the hash over any number of entries without a division.
    private func startIndex(of hashWord: UInt64) -> Int {
        Int(hashWord.multipliedFullWidth(by: entryCount).high)
    }

    /// The second word of an entry whose first is taken. Its writer stores it right after the
    /// first, so the wait is a few instructions long. It is never zero, because row numbers begin
    /// at one.
    private func settledRowWord(at index: Int) -> UInt64 {
        while true {
            let word = words[2 * index + 1].load(ordering: .acquiring)
            if word != 0 { return word }
            sched_yield()
        }
    }
}
