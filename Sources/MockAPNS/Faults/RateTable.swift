internal import Synchronization

/// Tells which of many keys come more often than a rate: the generic cell rate algorithm, with room
/// for one second's worth at once.
///
/// *Thread*: any; one lock, taken only where such a fault is set. *Limits*: a fixed table; two keys
/// that fall on one place forget each other, which lets an event through too many but never one too
/// few.
final class RateTable: Sendable {
    private struct Place {
        var key: UInt64 = 0
        /// When the key would be back to rest.
        var restNs: UInt64 = 0
    }

    private let intervalNs: UInt64
    private let toleranceNs: UInt64
    private let places: Mutex<[Place]>

    /// *Limits*: `placeCount` is a power of two.
    init(perSecond: Double, placeCount: Int) {
        intervalNs = UInt64(min(1e18, 1e9 / perSecond))
        // The events that fit into a second, the first included.
        let burst = max(1, UInt64(perSecond.rounded(.down)))
        toleranceNs = (burst - 1) * intervalNs
        places = Mutex([Place](repeating: Place(), count: placeCount))
    }

    /// Counts an event; true when it is above the rate, and then it does not count.
    func isTooMuch(_ key: UInt64, nowNs: UInt64) -> Bool {
        places.withLock { places in
            let index = Int(truncatingIfNeeded: key & UInt64(places.count - 1))
            if places[index].key != key { places[index] = Place(key: key) }
            let restNs = max(places[index].restNs, nowNs)
            guard restNs - nowNs <= toleranceNs else { return true }
            places[index].restNs = restNs + intervalNs
            return false
        }
    }
}
