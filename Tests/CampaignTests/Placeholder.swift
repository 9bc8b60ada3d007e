import Testing

@Suite struct CampaignPlaceholderTests {
    @Test func builds() {}
}
