import Testing

@Suite struct TLSPlaceholderTests {
    @Test func builds() {}
}
