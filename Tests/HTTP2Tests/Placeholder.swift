import Testing

@Suite struct HTTP2PlaceholderTests {
    @Test func builds() {}
}
