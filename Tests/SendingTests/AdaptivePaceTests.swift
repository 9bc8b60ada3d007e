import TestSupport
import Testing

@testable import Sending

/// The pace against servers that are arithmetic, on a clock moved by hand.
@Suite struct AdaptivePaceTests {
    /// B89: latency that grows at the same rate is the sign of a queue.
    @Test(arguments: [2_000.0, 20_000, 80_000], [0.000_2, 0.02, 0.15])
    func itFindsTheCapacityOfAServerAndStaysThere(capacity: Double, latency: Double) {
        var server = SimulatedServer(capacity: capacity)
        server.baseLatencySeconds = latency
        // More under way than the streams allow cannot be answered, whatever the server could do.
        guard capacity * latency <= server.inFlightMax / 2 else { return }
        server.run(seconds: 6)
        let rates = server.run(seconds: 60)
        #expect(rates.lowerBound >= capacity * 0.8)
        #expect(rates.upperBound <= capacity * 1.2)
    }

    @Test func itStartsWithAHundredPerSecondAndConnectionAndRisesAsTheRampSays() {
        var server = SimulatedServer(rampUpMs: 10_000, capacity: 1e9)
        server.baseLatencySeconds = 0
        #expect(server.pace.perConnection == 100)
        server.tick()  // the connections are there
        #expect(server.sentInTick == 10)  // and until then, it counts on one
        while server.seconds < 5 {
            server.tick()
            // 256-fold in ten seconds
            let bound = 400 * pow256(server.seconds / 10)
            #expect(server.pace.rate <= bound * 1.001)
        }
        #expect(server.pace.rate >= 400 * 15)
    }

    private func pow256(_ exponent: Double) -> Double {
        // By repeated square roots: an independent way to the power of two that the pace uses.
        var result = 1.0
        var (factor, rest) = (256.0, exponent)
        for _ in 0..<50 {
            if rest >= 1 {
                result *= factor
                rest -= 1
            }
            factor = factor.squareRoot()
            rest *= 2
        }
        return result
    }

    @Test func aHealthyServerIsAtFullSpeedWithinThreeSeconds() {
        var server = SimulatedServer(capacity: 1e9)
        server.baseLatencySeconds = 0
        server.run(seconds: 2.5)
        #expect(server.pace.rate >= 50_000)
    }

    @Test func errorsOfTheServerHalveTheRateAndItRecovers() {
        var server = SimulatedServer(capacity: 20_000)
        server.run(seconds: 20)
        let before = server.pace.rate
        server.troubleShare = 0.5
        server.run(seconds: 0.4)
        #expect(abs(server.pace.rate / before - 0.5) < 0.1)
        server.troubleShare = 0
        let after = server.run(seconds: 15)
        #expect(after.upperBound >= before * 0.9)
        let later = server.run(seconds: 30)
        #expect(later.lowerBound >= 16_000)
    }

    @Test func aServerThatRefusesEverythingIsAskedAtTheFloorOnly() {
        var server = SimulatedServer(capacity: 20_000)
        server.run(seconds: 10)
        server.troubleShare = 1
        server.run(seconds: 15)
        let rates = server.run(seconds: 20)
        // a tenth of the start: four connections with 10 per second
        #expect(rates.lowerBound == 40)
        #expect(rates.upperBound <= 400)
        server.troubleShare = 0
        server.run(seconds: 15)
        #expect(server.pace.rate >= 16_000)
    }

    /// Errors of single rows (a 429 is about one token) and late answers by chance are no reason.
    @Test func noiseDoesNotSlowItDown() {
        var server = SimulatedServer(capacity: 20_000)
        var random = SeededGenerator(seed: testSeed)
        server.troubleShare = 0.03
        server.noiseSeconds = {
            // One tick in twenty is a bad one.
            Int.random(in: 0..<20, using: &random) == 0
                ? 0.3 : Double.random(in: 0...0.02, using: &random)
        }
        server.run(seconds: 10)
        let rates = server.run(seconds: 60)
        #expect(rates.lowerBound >= 20_000 * 0.6)
        #expect(rates.upperBound <= 20_000 * 1.3)
    }

    @Test func aLongerWayIsNoQueue() {
        var server = SimulatedServer(capacity: 5_000)
        server.run(seconds: 20)
        server.baseLatencySeconds = 0.3
        server.run(seconds: 20)
        let rates = server.run(seconds: 40)
        #expect(rates.lowerBound >= 5_000 * 0.75)
    }

    @Test func aRateThatIsNotUsedDoesNotRise() {
        var server = SimulatedServer(capacity: 1e9)
        server.offered = 100
        server.run(seconds: 60)
        #expect(server.pace.rate <= 1000)
    }

    @Test func itFollowsAServerThatBecomesSlower() {
        var server = SimulatedServer(capacity: 40_000)
        server.run(seconds: 10)
        server.capacity = 8_000
        server.run(seconds: 15)
        let rates = server.run(seconds: 30)
        #expect(rates.lowerBound >= 8_000 * 0.8)
        #expect(rates.upperBound <= 8_000 * 1.2)
    }
}
