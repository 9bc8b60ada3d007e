import Testing

@Suite struct APNSPlaceholderTests {
    @Test func builds() {}
}
