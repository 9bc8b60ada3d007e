internal import Glibc

/// SplitMix64: numbers that depend on the seed alone.
struct FaultRandom {
    private var state: UInt64

    /// Each fault on each thread has a row of numbers of its own, so that one fault more or less
    /// does not change when the others strike.
    init(seed: UInt64, worker: Int, rule: Int) {
        state = seed
        state = next() ^ UInt64(worker)
        state = next() ^ UInt64(rule)
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// From 0 up to but not 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func nanoseconds(_ delay: FaultDelay) -> UInt64 {
        switch delay {
        case .uniform(let fromNs, let toNs):
            return fromNs + UInt64(Double(toNs - fromNs) * fraction())
        case .logNormal(let medianNs, let sigma):
            // Box and Muller's transformation; 1 − x, because the logarithm of 0 is none.
            let radius = (-2 * log(1 - fraction())).squareRoot()
            let normal = radius * cos(2 * Double.pi * fraction())
            return UInt64(min(86_400e9, Double(medianNs) * exp(sigma * normal)))
        }
    }
}
