internal import APNS

/// Values by byte strings: found without allocation, and copied cheaply when one value changes.
///
/// A change copies one of 256 shards where somebody still reads the old table, so that a registry
/// of a hundred thousand tokens can be changed one by one while requests go on.
struct ByteTable<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let key: [UInt8]
        var value: Value
    }

    private typealias Shard = [UInt64: [Entry]]

    private var shards = [Shard](repeating: [:], count: 256)
    /// How many values there are.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The value of exactly these bytes.
    func value(for key: UnsafeRawBufferPointer) -> Value? {
        let hash = TokenDigest.fnv1a64(key)
        return shards[Int(hash & 0xFF)][hash]?.first { $0.key.elementsEqual(key) }?.value
    }

    func value(for key: [UInt8]) -> Value? { key.withUnsafeBytes { value(for: $0) } }

    /// Sets the value of `key`, in place of an earlier one.
    mutating func set(_ key: [UInt8], to value: Value) {
        remove(key)
        let hash = key.withUnsafeBytes { TokenDigest.fnv1a64($0) }
        shards[Int(hash & 0xFF)][hash, default: []].append(Entry(key: key, value: value))
        count += 1
    }

    /// Whether there was such a value.
    @discardableResult
    mutating func remove(_ key: [UInt8]) -> Bool {
        let hash = key.withUnsafeBytes { TokenDigest.fnv1a64($0) }
        let shard = Int(hash & 0xFF)
        guard let index = shards[shard][hash]?.firstIndex(where: { $0.key == key }) else {
            return false
        }
        shards[shard][hash]?.remove(at: index)
        if shards[shard][hash]?.isEmpty == true { shards[shard][hash] = nil }
        count -= 1
        return true
    }

    /// All values in the order of their keys.
    var sorted: [(key: [UInt8], value: Value)] {
        shards.flatMap { $0.values.flatMap { $0 } }
            .map { ($0.key, $0.value) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}
