import APNS
import Campaign
import Testing

@Suite struct LocaleTests {
    private static let payloads = """
        {pt: {aps: {alert: 'pt'}}, 'pt-BR': {aps: {alert: 'pt-BR'}}, \
        zh_Hant: {aps: {alert: 'zh-Hant'}}, zh: {aps: {alert: 'zh'}}, \
        ru: {aps: {alert: 'ru {{name}}'}}}
        """

    @Test(arguments: [
        ("pt", "pt"), ("pt-BR", "pt-BR"), ("pt_BR", "pt-BR"), ("PT-br", "pt-BR"), ("pt-PT", "pt"),
        ("pt_BR.UTF-8", "pt-BR"), ("pt_BR@calendar=gregorian", "pt-BR"), ("zh-Hant-TW", "zh-Hant"),
        ("zh-Hans", "zh"), ("p", "Hello"), ("ptx", "Hello"), ("en-US", "Hello"), ("", "Hello"),
        ("-", "Hello"), ("pt-", "pt"), (" pt ", "pt"), ("\u{440}\u{443}", "Hello"),
        (
            "pt-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "Hello"
        ),
    ])
    func theNearestPayloadIsChosen(_ locale: String, _ alert: String) throws {
        let csv = try RowFixture(
            ["payloads": Self.payloads], columns: ["token", "locale", "name"])
        #expect(csv.csv(locale, "x").payload == "{\"aps\":{\"alert\":\"\(alert)\"}}")
        let ndjson = try RowFixture(["payloads": Self.payloads], columns: nil)
        #expect(
            ndjson.json("\"locale\":\"\(locale)\"").payload
                == "{\"aps\":{\"alert\":\"\(alert)\"}}")
    }

    @Test func onlyTheChosenPayloadNeedsItsValues() throws {
        let fixture = try RowFixture(["payloads": Self.payloads], columns: nil)
        #expect(fixture.json(#""locale":"pt""#).code == nil)
        #expect(fixture.json(#""locale":"ru""#).code == .missingValue)
        #expect(fixture.json(#""locale":"ru-RU","name":"x""#).payload.contains("ru x"))
    }

    @Test func withoutAPayloadForEverybodyOtherLocalesAreInvalid() throws {
        let fixture = try RowFixture(["payload": nil, "payloads": Self.payloads], columns: nil)
        #expect(fixture.json(#""locale":"pt""#).code == nil)
        #expect(fixture.json(#""locale":"en""#).code == .badValue)
        #expect(fixture.json(#""locale":5"#).code == .badValue)
        #expect(fixture.json("").code == .missingValue)
        #expect(fixture.json(#""locale":null"#).detail?.contains("\"locale\"") == true)
    }

    @Test func greetingsInFiveLanguagesArriveAsWritten() throws {
        let greetings = [
            "tl": "Kamusta!", "uz": "Salom!", "ms": "Halo!", "hi": "नमस्ते!", "ru": "Привет!",
        ]
        let payloads = greetings.map { "\($0): {aps: {alert: '\($1)'}}" }.joined(separator: ",")
        let changes = ["payload": "{aps: {alert: '{{greeting}}'}}", "payloads": "{\(payloads)}"]
        let byLocale = try RowFixture(changes, columns: ["token", "locale", "greeting"])
        for (locale, greeting) in greetings {
            let expected = "{\"aps\":{\"alert\":\"\(greeting)\"}}"
            #expect(byLocale.csv(locale, "").payload == expected)
            #expect(byLocale.csv("en", greeting).payload == expected)
        }
    }
}
