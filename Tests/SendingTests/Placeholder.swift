import Testing

@Suite struct SendingPlaceholderTests {
    @Test func builds() {}
}
