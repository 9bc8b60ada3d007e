import Report
import Testing

struct NumberTextTests {
    @Test(arguments: [
        (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"),
        (UInt64.max, "18,446,744,073,709,551,615"),
    ])
    func countsAreGroupedByThousands(number: UInt64, text: String) {
        #expect(NumberText.count(number) == text)
    }

    @Test func oneThingIsSingular() {
        #expect(NumberText.count(1, "row") == "1 row")
        #expect(NumberText.count(0, "row") == "0 rows")
        #expect(NumberText.count(2000, "row") == "2,000 rows")
    }

    @Test(arguments: [
        (0, 10, "0 %"), (10, 10, "100 %"), (1, 3, "33.3 %"), (2, 3, "66.7 %"), (1, 2, "50.0 %"),
        (1, 1_000_000, "<0.1 %"), (999_999, 1_000_000, ">99.9 %"), (1, 1000, "0.1 %"),
        (0, 0, "0 %"),
    ])
    func percentsNeverRoundToNothingOrAll(part: UInt64, whole: UInt64, text: String) {
        #expect(NumberText.percent(part, of: whole) == text)
    }

    @Test(arguments: [
        (0.0, "0 ms"), (0.024, "24 ms"), (0.0996, "0.1 s"), (0.44, "0.4 s"), (9.94, "9.9 s"),
        (9.96, "10 s"), (59.4, "59 s"),
        (59.6, "1 min"), (72, "1 min 12 s"), (3599.6, "1 h"), (7500, "2 h 5 min"),
        (86_399, "1 d"), (273_600, "3 d 4 h"),
    ])
    func durationsHaveTwoUnitsAtMost(seconds: Double, text: String) {
        #expect(NumberText.duration(seconds: seconds) == text)
    }

    @Test(arguments: [
        (0.4, "0.4 ms"), (12.3, "12 ms"), (999.4, "999 ms"), (999.6, "1.0 s"),
        (61_000, "1 min 1 s"),
    ])
    func millisecondsBecomeSecondsWhenTheyAreMany(value: Double, text: String) {
        #expect(NumberText.milliseconds(value) == text)
    }

    @Test(arguments: [
        (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
        (1_048_575, "1.0 MiB"), (12_582_912, "12 MiB"), (1 << 40, "1.0 TiB"),
        (1 << 50, "1,024 TiB"),
    ])
    func bytesHaveBinaryUnits(number: UInt64, text: String) {
        #expect(NumberText.bytes(number) == text)
    }
}
