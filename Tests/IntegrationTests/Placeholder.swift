import Testing

@Suite struct IntegrationPlaceholderTests {
    @Test func builds() {}
}
