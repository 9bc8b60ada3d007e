import Testing

@Suite struct PealPlaceholderTests {
    @Test func builds() {}
}
