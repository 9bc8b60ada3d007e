internal import APNS
package import Campaign
package import Check
internal import JSON

/// What a check found, for programs.
package struct CheckJSON {
    private let campaign: Campaign
    private var json = JSONWriter(pretty: true)

    /// The facts as one JSON object, with a line end at its end.
    package static func render(
        _ campaign: Campaign, _ facts: CheckFacts, _ forecast: SendForecast, findings: [Finding]
    ) -> [UInt8] {
        var writer = CheckJSON(campaign: campaign)
        writer.json.beginObject()
        writer.addRows(facts, forecast)
        writer.addInvalid(facts)
        writer.addDuplicates(facts)
        writer.addSizes(facts.sizes)
        writer.addLocales(facts)
        writer.addPlaceholders(facts)
        writer.addForecast(forecast)
        writer.addFindings(findings)
        writer.json.key("sample")
        if let row = facts.sample { writer.add(row) } else { writer.json.null() }
        writer.json.endObject()
        return writer.json.bytes + [UInt8(ascii: "\n")]
    }

    /// One row as a JSON object, with a line end at its end.
    package static func render(_ row: CheckedRow, _ campaign: Campaign) -> [UInt8] {
        var writer = CheckJSON(campaign: campaign)
        writer.add(row)
        return writer.json.bytes + [UInt8(ascii: "\n")]
    }

    private init(campaign: Campaign) { self.campaign = campaign }

    // MARK: The whole file

    private mutating func addRows(_ facts: CheckFacts, _ forecast: SendForecast) {
        member("name", campaign.name)
        member("recipients", facts.source)
        member("rows", facts.rows)
        member("sendable", forecast.requests)
        member("invalid", facts.invalidCount)
        member("suppressed", facts.suppressedCount)
        member("repeated", facts.repeatedCount)
        json.key("seconds")
        json.number((facts.seconds * 1000).rounded() / 1000)
        member("bytesRead", facts.bytesRead)
    }

    private mutating func addInvalid(_ facts: CheckFacts) {
        json.key("invalidReasons")
        json.beginArray()
        for kind in facts.invalid {
            json.beginObject()
            member("reason", kind.code.reason)
            member("rows", kind.count)
            member("advice", kind.code.advice)
            json.key("examples")
            json.beginArray()
            for place in kind.examples {
                json.beginObject()
                add(place)
                json.endObject()
            }
            json.endArray()
            json.endObject()
        }
        json.endArray()
    }

    private mutating func add(_ place: RowPlace) {
        member("row", place.row)
        member("line", place.line)
        member("column", UInt64(place.column))
        if let detail = place.detail { member("detail", detail) }
    }

    private mutating func addDuplicates(_ facts: CheckFacts) {
        json.key("duplicates")
        json.beginObject()
        member("policy", campaign.skipsDuplicates ? "skip" : "send")
        member("rows", facts.repeatedCount)
        json.key("examples")
        json.beginArray()
        for repeated in facts.repeatedRows {
            json.beginObject()
            member("row", repeated.row)
            member("firstRow", repeated.firstRow)
            json.endObject()
        }
        json.endArray()
        json.key("mostRepeated")
        if let most = facts.mostRepeated {
            json.beginObject()
            member("firstRow", most.firstRow)
            member("rows", most.count)
            json.endObject()
        } else {
            json.null()
        }
        json.endObject()
    }

    private mutating func addSizes(_ sizes: PayloadSizes) {
        json.key("payloadBytes")
        json.beginObject()
        member("limit", UInt64(sizes.bytesMax))
        member("smallest", sizes.smallest.map { UInt64($0) })
        member("median", sizes.median.map { UInt64($0) })
        member("largest", sizes.largest.map { UInt64($0) })
        member("largestRow", sizes.largest == nil ? nil : sizes.largestRow)
        member("total", sizes.totalBytes)
        json.key("histogram")
        json.beginArray()
        for bucket in sizes.buckets() {
            json.beginObject()
            member("from", UInt64(bucket.from))
            member("to", UInt64(bucket.to))
            member("rows", bucket.rows)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    private mutating func addLocales(_ facts: CheckFacts) {
        let payloads = campaign.payloads
        json.key("payloads")
        json.beginObject()
        for (index, rows) in facts.rowsByPayload.enumerated() {
            if index == 0, payloads.standard == nil { continue }
            member(payloads.name(of: index - 1), rows)
        }
        json.endObject()
        json.key("locales")
        json.beginArray()
        for use in facts.locales {
            json.beginObject()
            member("locale", use.text)
            member("rows", use.rows)
            let hasNone = use.payloadIndex < 0 && payloads.standard == nil
            member("payload", hasNone ? nil : payloads.name(of: use.payloadIndex))
            json.endObject()
        }
        json.endArray()
        member("otherLocaleRows", facts.otherLocaleRows)
    }

    private mutating func addPlaceholders(_ facts: CheckFacts) {
        json.key("placeholders")
        json.beginArray()
        for use in facts.placeholders {
            json.beginObject()
            member("column", use.column)
            member("rows", use.rows)
            member("empty", use.emptyRows)
            json.key("defaults")
            json.beginArray()
            for text in use.defaults {
                if let text { json.string(text) } else { json.null() }
            }
            json.endArray()
            json.endObject()
        }
        json.endArray()
    }

    private mutating func addForecast(_ forecast: SendForecast) {
        json.key("forecast")
        json.beginObject()
        member("requests", forecast.requests)
        member("bytes", forecast.bytes)
        member("pacing", forecast.pace.mode)
        member("connections", UInt64(forecast.pace.connections))
        member("ratePerSecondMax", forecast.pace.ratePerSecondMax)
        member("secondsMin", forecast.secondsMin)
        json.endObject()
    }

    private mutating func addFindings(_ findings: [Finding]) {
        json.key("findings")
        json.beginArray()
        for finding in findings {
            json.beginObject()
            member("id", finding.id)
            member("severity", finding.isWarning ? "warning" : "note")
            member("message", finding.message)
            member("remedy", finding.remedy)
            json.endObject()
        }
        json.endArray()
    }

    // MARK: One row

    private mutating func add(_ row: CheckedRow) {
        json.beginObject()
        member("row", row.row)
        member("line", row.line)
        member("token", row.token)
        json.key("valid")
        json.bool(row.problem == nil)
        json.key("suppressed")
        json.bool(row.isSuppressed)
        if let problem = row.problem {
            member("reason", problem.code.reason)
            member("advice", problem.code.advice)
            json.key("place")
            json.beginObject()
            add(problem.place)
            json.endObject()
        } else {
            addRequest(row)
        }
        json.endObject()
    }

    private mutating func addRequest(_ row: CheckedRow) {
        member("payloadName", row.payloadName)
        member("payloadBytes", UInt64(row.payload.count))
        json.key("headers")
        json.beginObject()
        for header in RequestText.headers(campaign, row) { member(header.name, header.value) }
        json.endObject()
        // As text, because a program that reads JSON may not keep the order of keys.
        json.key("payload")
        row.payload.withUnsafeBytes { json.string(utf8: $0) }
    }

    // MARK: Members

    private mutating func member(_ name: String, _ text: String?) {
        json.key(name)
        if let text { json.string(text) } else { json.null() }
    }

    private mutating func member(_ name: String, _ value: UInt64?) {
        json.key(name)
        if let value { json.number(value) } else { json.null() }
    }

    private mutating func member(_ name: String, _ value: Double?) {
        json.key(name)
        if let value { json.number((value * 1000).rounded() / 1000) } else { json.null() }
    }
}
