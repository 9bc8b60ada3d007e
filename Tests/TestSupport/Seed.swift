import Glibc

/// The seed of this test run: `SEED` from the environment, or a fresh one; printed once, so that a
/// failure can be repeated with the same `SEED`.
package let testSeed: UInt64 = {
    let seed =
        getenv("SEED").flatMap { UInt64(String(cString: $0)) }
        ?? UInt64.random(in: 1...999_999_999)
    print("SEED=\(seed)")
    return seed
}()

/// SplitMix64: a small generator whose numbers depend on its seed alone.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64 = testSeed) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
