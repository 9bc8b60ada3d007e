import Testing

@Suite struct TransportPlaceholderTests {
    @Test func builds() {}
}
