/// How a campaign is sent in a case: what the cases differ by.
struct Shape {
    var connections = 4
    var streams = 100
    var bodyBytes = 227
    var isPersonalised = true
    var threads = 1

    /// The fewest streams that are in flight together let as many requests pass in the time of a
    /// round as the others when there are fewer requests.
    func scaled(_ count: Int) -> Int {
        connections * streams < 32 ? count / 5 : bodyBytes > 2000 ? count / 3 : count
    }
}

/// How many notifications are sent by the two runs of a sample: their difference is what is
/// counted, so that start, connecting and warming up are not.
struct Counts {
    let short: Int
    let long: Int

    static func of(_ size: Options.Size) -> Counts {
        switch size {
        case .full: Counts(short: 50_000, long: 350_000)
        case .quick: Counts(short: 20_000, long: 140_000)
        case .tiny: Counts(short: 500, long: 1_500)
        }
    }

    func divided(by divisor: Int) -> Counts {
        Counts(short: max(200, short / divisor), long: max(600, long / divisor))
    }

    func scaled(for shape: Shape) -> Counts {
        Counts(short: max(200, shape.scaled(short)), long: max(600, shape.scaled(long)))
    }
}
