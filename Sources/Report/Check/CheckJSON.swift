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
        json.member("name", campaign.name)
        json.member("recipients", facts.source)
        json.member("rows", facts.rows)
        json.member("sendable", forecast.requests)
        json.member("invalid", facts.invalidCount)
        json.member("suppressed", facts.suppressedCount)
        json.member("repeated", facts.repeatedCount)
        json.member("seconds", facts.seconds, decimals: 3)
        json.member("bytesRead", facts.bytesRead)
    }

    private mutating func addInvalid(_ facts: CheckFacts) {
        json.key("invalidReasons")
        json.beginArray()
        for kind in facts.invalid {
            json.beginObject()
            json.member("reason", kind.code.reason)
            json.member("rows", kind.count)
            json.member("advice", kind.code.advice)
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
        json.member("row", place.row)
        json.member("line", place.line)
        json.member("column", UInt64(place.column))
        if let detail = place.detail { json.member("detail", detail) }
    }

    private mutating func addDuplicates(_ facts: CheckFacts) {
        json.key("duplicates")
        json.beginObject()
        json.member("policy", campaign.skipsDuplicates ? "skip" : "send")
        json.member("rows", facts.repeatedCount)
        json.key("examples")
        json.beginArray()
        for repeated in facts.repeatedRows {
            json.beginObject()
            json.member("row", repeated.row)
            json.member("firstRow", repeated.firstRow)
            json.endObject()
        }
        json.endArray()
        json.key("mostRepeated")
        if let most = facts.mostRepeated {
            json.beginObject()
            json.member("firstRow", most.firstRow)
            json.member("rows", most.count)
            json.endObject()
        } else {
            json.null()
        }
        json.endObject()
    }

    private mutating func addSizes(_ sizes: PayloadSizes) {
        json.key("payloadBytes")
        json.beginObject()
        json.member("limit", UInt64(sizes.bytesMax))
        json.member("smallest", sizes.smallest.map { UInt64($0) })
        json.member("median", sizes.median.map { UInt64($0) })
        json.member("largest", sizes.largest.map { UInt64($0) })
        json.member("largestRow", sizes.largest == nil ? nil : sizes.largestRow)
        json.member("total", sizes.totalBytes)
        json.key("histogram")
        json.beginArray()
        for bucket in sizes.buckets() {
            json.beginObject()
            json.member("from", UInt64(bucket.from))
            json.member("to", UInt64(bucket.to))
            json.member("rows", bucket.rows)
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
            json.member(payloads.name(of: index - 1), rows)
        }
        json.endObject()
        json.key("locales")
        json.beginArray()
        for use in facts.locales {
            json.beginObject()
            json.member("locale", use.text)
            json.member("rows", use.rows)
            let hasNone = use.payloadIndex < 0 && payloads.standard == nil
            json.member("payload", hasNone ? nil : payloads.name(of: use.payloadIndex))
            json.endObject()
        }
        json.endArray()
        json.member("otherLocaleRows", facts.otherLocaleRows)
    }

    private mutating func addPlaceholders(_ facts: CheckFacts) {
        json.key("placeholders")
        json.beginArray()
        for use in facts.placeholders {
            json.beginObject()
            json.member("column", use.column)
            json.member("rows", use.rows)
            json.member("empty", use.emptyRows)
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
        json.member("requests", forecast.requests)
        json.member("bytes", forecast.bytes)
        json.member("pacing", forecast.pace.mode)
        json.member("connections", UInt64(forecast.pace.connections))
        json.member("ratePerSecondMax", forecast.pace.ratePerSecondMax, decimals: 3)
        json.member("secondsMin", forecast.secondsMin, decimals: 3)
        json.endObject()
    }

    private mutating func addFindings(_ findings: [Finding]) {
        json.key("findings")
        json.beginArray()
        for finding in findings {
            json.beginObject()
            json.member("id", finding.id)
            json.member("severity", finding.isWarning ? "warning" : "note")
            json.member("message", finding.message)
            json.member("remedy", finding.remedy)
            json.endObject()
        }
        json.endArray()
    }

    // MARK: One row

    private mutating func add(_ row: CheckedRow) {
        json.beginObject()
        json.member("row", row.row)
        json.member("line", row.line)
        json.member("token", row.token)
        json.key("valid")
        json.bool(row.problem == nil)
        json.key("suppressed")
        json.bool(row.isSuppressed)
        if let problem = row.problem {
            json.member("reason", problem.code.reason)
            json.member("advice", problem.code.advice)
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
        json.member("payloadName", row.payloadName)
        json.member("payloadBytes", UInt64(row.payload.count))
        json.key("headers")
        json.beginObject()
        for header in RequestText.headers(campaign, row) { json.member(header.name, header.value) }
        json.endObject()
        // As text, because a program that reads JSON may not keep the order of keys.
        json.key("payload")
        row.payload.withUnsafeBytes { json.string(utf8: $0) }
    }

    // MARK: Members
}
