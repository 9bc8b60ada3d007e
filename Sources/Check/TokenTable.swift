internal import Crypto
internal import Glibc

/// The tokens seen so far, to find those that stand in several rows.
///
/// An open-addressing table in a file that has no name any more, mapped into memory, so that the
/// system can write it out when a file has more rows than memory. An entry is two words: 64 bits of
/// the token's keyed hash; 16 more bits of it, 8 bits that count rows (255 stands for more), and 40
/// bits for the first row with the token. 80 bits make one false find among 10⁸ tokens less likely
/// than 10⁻⁸. Results do not depend on the order in which rows come.
///
/// - Thread: one at a time.
/// - Memory: file pages, not anonymous memory; 16 bytes × 1.5 per row.
final class TokenTable {
    /// A row's token, hashed.
    struct Claim {
        let hash: (UInt64, UInt64)
        let row: UInt64
    }

    /// Rows whose token stands in an earlier row.
    private(set) var repeatedCount: UInt64 = 0
    /// The first of those rows, as many as anybody wants to see.
    private var examples: [Claim] = []
    /// Tokens of 255 rows or more, the most interesting ones, with their exact counts.
    private var frequent: [(first: UInt64, second: UInt64, count: UInt64)] = []
    /// The token of the most rows; of several, the one that comes first in the file.
    private(set) var mostRepeated: RepeatedToken?

    private let folder: String
    private var words: UnsafeMutablePointer<UInt64>  // owned, a mapping of entryCount entries
    private var entryCount: UInt64
    private var usedCount: UInt64 = 0

    private static let examplesMax = 3
    /// A file with more such tokens is nothing but test data.
    private static let frequentMax = 64
    private static let rowMask: UInt64 = (1 << 40) - 1
    private static let countMask: UInt64 = 0xFF << 40
    private static let tagMask: UInt64 = 0xFFFF << 48

    /// `folder`: where the file is made. `rows`: how many rows to make room for.
    init(folder: String, rows: UInt64) throws(CheckError) {
        self.folder = folder
        entryCount = max(rows, 1024) / 2 * 3
        words = try Self.map(entries: entryCount, in: folder)
    }

    deinit { munmap(words, Int(entryCount) * 16) }

    /// Takes in the tokens of some rows.
    func add(_ claims: UnsafeBufferPointer<Claim>) throws(CheckError) {
        if (usedCount + UInt64(claims.count)) * 3 > entryCount * 2 {
            try grow(for: usedCount + UInt64(claims.count))
        }
        for claim in claims { insert(claim) }
    }

    /// Takes in one token.
    func add(_ claim: Claim) throws(CheckError) {
        if (usedCount + 1) * 3 > entryCount * 2 { try grow(for: usedCount + 1) }
        insert(claim)
    }

    /// Whether a token with this hash was taken in.
    func contains(_ hash: (UInt64, UInt64)) -> Bool {
        let claim = Claim(hash: hash, row: 0)
        return words[2 * entry(of: claim)] != 0
    }

    /// The first rows whose token stands in an earlier row, each with the first such row.
    var repeatedRows: [RepeatedRow] {
        examples.map { RepeatedRow(row: $0.row, firstRow: firstRow(of: $0)) }
    }

    // MARK: Entries

    private func insert(_ claim: Claim) {
        let entry = entry(of: claim)
        guard words[2 * entry] == 0 else { return repeatToken(claim, entry) }
        words[2 * entry] = Self.word(claim)
        words[2 * entry + 1] =
            claim.hash.1 & Self.tagMask | 1 << 40 | claim.row & Self.rowMask
        usedCount += 1
    }

    /// The entry that has the token, or the free one where it would be put.
    private func entry(of claim: Claim) -> Int {
        let first = Self.word(claim)
        let tag = claim.hash.1 & Self.tagMask
        var entry = entryIndex(of: first)
        while case let found = words[2 * entry], found != 0 {
            if found == first, words[2 * entry + 1] & Self.tagMask == tag { break }
            entry = entry + 1 == Int(entryCount) ? 0 : entry + 1
        }
        return entry
    }

    private func repeatToken(_ claim: Claim, _ entry: Int) {
        var word = words[2 * entry + 1]
        let stored = word & Self.rowMask
        if claim.row < stored { word = word & ~Self.rowMask | claim.row }
        if word & Self.countMask != Self.countMask { word += 1 << 40 }
        words[2 * entry + 1] = word
        repeatedCount += 1
        noteExample(Claim(hash: claim.hash, row: max(stored, claim.row)))
        let count = (word & Self.countMask) >> 40
        let token = RepeatedToken(
            firstRow: word & Self.rowMask, count: count == 255 ? frequentCount(claim) : count)
        if token.isMore(than: mostRepeated) { mostRepeated = token }
    }

    private func noteExample(_ claim: Claim) {
        if examples.count == Self.examplesMax, claim.row > examples[Self.examplesMax - 1].row {
            return
        }
        let place = examples.firstIndex { $0.row > claim.row } ?? examples.count
        examples.insert(claim, at: place)
        if examples.count > Self.examplesMax { examples.removeLast() }
    }

    private func frequentCount(_ claim: Claim) -> UInt64 {
        if let index = frequent.firstIndex(where: { token in
            token.first == claim.hash.0 && token.second == claim.hash.1
        }) {
            frequent[index].count += 1
            return frequent[index].count
        }
        if frequent.count < Self.frequentMax {
            frequent.append((claim.hash.0, claim.hash.1, 255))
        }
        return 255
    }

    private func firstRow(of claim: Claim) -> UInt64 {
        let entry = entry(of: claim)
        precondition(words[2 * entry] != 0, "a token that was added is gone")
        return words[2 * entry + 1] & Self.rowMask
    }

    /// Zero marks a free entry, so the one hash of zero is stored as one.
    private static func word(_ claim: Claim) -> UInt64 { claim.hash.0 == 0 ? 1 : claim.hash.0 }

    /// The high half of a product spreads the hash over any number of entries without a division.
    private func entryIndex(of word: UInt64) -> Int {
        Int(word.multipliedFullWidth(by: entryCount).high)
    }

    // MARK: The file

    /// Moves the entries to a file for twice the rows.
    private func grow(for rows: UInt64) throws(CheckError) {
        let oldWords = words
        let oldCount = entryCount
        let newCount = max(rows / 2 * 3 + 3, oldCount * 2)
        words = try Self.map(entries: newCount, in: folder)
        entryCount = newCount
        for index in 0..<Int(oldCount) where oldWords[2 * index] != 0 {
            var entry = entryIndex(of: oldWords[2 * index])
            while words[2 * entry] != 0 {
                entry = entry + 1 == Int(entryCount) ? 0 : entry + 1
            }
            words[2 * entry] = oldWords[2 * index]
            words[2 * entry + 1] = oldWords[2 * index + 1]
        }
        munmap(oldWords, Int(oldCount) * 16)
    }

    private static func map(
        entries: UInt64, in folder: String
    ) throws(CheckError) -> UnsafeMutablePointer<UInt64> {
        var path = Array("\(folder)/peal-check-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)  // with mode 0600
        guard descriptor >= 0 else { throw .table("create", in: folder, code: errno) }
        unlink(path)  // at once: whatever ends this process, nothing stays behind
        defer { close(descriptor) }
        let bytes = Int(entries) * 16
        // Allocated, because a disk that is full is then an error here and no signal later.
        let code = posix_fallocate(descriptor, 0, off_t(bytes))
        guard code == 0 else { throw .table("make room in", in: folder, code: code) }
        let mapped = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { throw .table("map", in: folder, code: errno) }
        return mapped.bindMemory(to: UInt64.self, capacity: 2 * Int(entries))
    }
}
