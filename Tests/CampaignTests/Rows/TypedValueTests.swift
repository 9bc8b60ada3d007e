import APNS
import Campaign
import Testing

@Suite struct TypedValueTests {
    /// Type, text of the cell, the JSON that it becomes; nil: BadValue.
    @Test(arguments: [
        ("int", "0", "0"), ("int", "-5", "-5"), ("int", " 7\t", "7"), ("int", "-0", "-0"),
        ("int", "9223372036854775807", "9223372036854775807"),
        ("int", "-9223372036854775808", "-9223372036854775808"),
        ("int", "9223372036854775808", nil), ("int", "-9223372036854775809", nil),
        ("int", "99999999999999999999", nil), ("int", "007", nil), ("int", "+1", nil),
        ("int", "1.0", nil), ("int", "1e3", nil), ("int", "-", nil), ("int", " ", nil),
        ("int", "0x1", nil), ("int", "1 2", nil), ("int", "٣", nil),
        ("number", "1.50", "1.50"), ("number", "-2e10", "-2e10"), ("number", " 3 ", "3"),
        ("number", "1e400", "1e400"), ("number", ".5", nil), ("number", "5.", nil),
        ("number", "1,5", nil), ("number", "NaN", nil), ("number", "Infinity", nil),
        ("number", "01", nil), ("number", "true", nil), ("number", "1 1", nil),
        ("bool", "true", "true"), ("bool", "false", "false"), ("bool", "1", "true"),
        ("bool", " 0", "false"), ("bool", "yes", nil), ("bool", "TRUE", nil), ("bool", "2", nil),
        ("json", " { \"a\" : [ 1 , \"b c\\\" \" ] } ", "{\"a\":[1,\"b c\\\" \"]}"),
        ("json", "null", "null"), ("json", "\"x\"", "\"x\""), ("json", "1.50", "1.50"),
        ("json", "{", nil), ("json", "{a:1}", nil), ("json", "[1,]", nil), ("json", "1 2", nil),
        ("json", "'x'", nil), ("json", "\"\\ud800\"", nil), ("json", "", "5"),
    ])
    func cellsBecomeValuesOfTheirType(_ type: String, _ cell: String, _ json: String?) throws {
        let fallback = cell.isEmpty ? "|5" : ""
        let fixture = try RowFixture(
            ["payload": "{aps: {alert: 'x'}, v: '{{v:\(type)\(fallback)}}'}"],
            columns: ["token", "v"])
        let row = fixture.csv(cell)
        #expect(row.code == (json == nil ? .badValue : nil))
        if let json { #expect(row.payload == "{\"aps\":{\"alert\":\"x\"},\"v\":\(json)}") }
    }

    /// Type, JSON of the value, the JSON that it becomes; nil: BadValue.
    @Test(arguments: [
        ("", "\"a\\nb\"", "\"a\\nb\""), ("", "\"a\\/b\"", "\"a/b\""), ("", "5", "\"5\""),
        ("", "1.50", "\"1.50\""), ("", "true", "\"true\""), ("", "{\"a\":1}", nil),
        ("", "[]", nil), (":int", "5", "5"), (":int", "\"5\"", "5"), (":int", "5.0", nil),
        (":int", "true", nil), (":int", "[5]", nil), (":number", "1.50", "1.50"),
        (":number", "\"1.5\"", "1.5"), (":bool", "true", "true"), (":bool", "1", "true"),
        (":bool", "\"0\"", "false"), (":bool", "\"no\"", nil),
        (":json", "{ \"a\": 1 }", "{\"a\":1}"),
        (":json", "[ 1, 2 ]", "[1,2]"), (":json", "\"{}\"", "\"{}\""), (":json", "5", "5"),
        (":json", "\"\\u00e9\"", "\"\\u00e9\""),
    ])
    func ndjsonValuesBecomeValuesOfTheirType(
        _ type: String, _ value: String, _ json: String?
    ) throws {
        let fixture = try RowFixture(
            ["payload": "{aps: {alert: 'x'}, v: '{{v\(type)}}'}"], columns: nil)
        let row = fixture.json("\"v\":\(value)")
        #expect(row.code == (json == nil ? .badValue : nil))
        if let json { #expect(row.payload == "{\"aps\":{\"alert\":\"x\"},\"v\":\(json)}") }
    }

    @Test func defaultsAreWrittenAsTheirTypeSays() throws {
        let payload = """
            {aps: {alert: '{{a|"q" \\\\ \u{E9}}}'}, i: '{{a:int| 5 }}', b: '{{a:bool|1}}', \
            j: '{{a:json|{ "x": {} }}}', n: '{{a:number|1.50}}'}
            """
        let fixture = try RowFixture(["payload": payload], columns: nil)
        #expect(
            fixture.json("").payload
                == #"{"aps":{"alert":"\"q\" \\ é"},"i":5,"b":true,"j":{"x":{}},"n":1.50}"#)
    }
}
