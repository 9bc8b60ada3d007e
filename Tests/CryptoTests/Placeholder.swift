import Testing

@Suite struct CryptoPlaceholderTests {
    @Test func builds() {}
}
