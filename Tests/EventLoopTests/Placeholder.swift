import Testing

@Suite struct EventLoopPlaceholderTests {
    @Test func builds() {}
}
