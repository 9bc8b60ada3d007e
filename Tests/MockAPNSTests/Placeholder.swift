import Testing

@Suite struct MockAPNSPlaceholderTests {
    @Test func builds() {}
}
