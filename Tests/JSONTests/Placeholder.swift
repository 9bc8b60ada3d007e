import Testing

@Suite struct JSONPlaceholderTests {
    @Test func builds() {}
}
