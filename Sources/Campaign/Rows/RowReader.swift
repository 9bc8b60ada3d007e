internal import APNS
internal import JSON

/// Turns records into device tokens and payloads: `read`, then `render`.
///
/// Nothing is allocated per row: all memory is made by `init`. In that order a row is judged:
/// whether it can be read, its token, and then (after whatever the caller does between the two
/// calls) its values and sizes.
///
/// Thread: one. Limits: records of at most `RecordLimits.recordBytesMax` bytes.
package final class RowReader {
    /// The latest row's device token, in lower case; valid until the next `read`.
    package var token: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: tokenMemory[..<tokenBytes])
    }
    /// The latest row's payload; valid until the next `render`.
    package var payload: UnsafeRawBufferPointer { latestPayload }
    /// The latest row's collapse id, empty for none; valid until the next `render`.
    package var collapseID: UnsafeRawBufferPointer { latestCollapseID }
    /// Which payload the latest row gets: an index into `PayloadSet.byLocale`, or -1 for the one
    /// for everybody, whether there is one or not. Set by `render`.
    package var payloadIndex: Int { latestPayloadIndex }

    // Not the stored properties themselves for others: one that other modules see costs a dynamic
    // exclusivity check at each use, here for each row.
    private var latestPayload = UnsafeRawBufferPointer(start: nil, count: 0)
    private var latestCollapseID = UnsafeRawBufferPointer(start: nil, count: 0)
    private var latestPayloadIndex = LocaleTable.standardChoice

    let columns: RowColumns
    let columnCount: Int
    /// One per column, owned.
    let values: UnsafeMutablePointer<FieldValue>
    /// The names of the columns in UTF-8, one after the other, each one's end in `nameEnds`. Owned.
    let names: UnsafeMutableRawBufferPointer
    let nameEnds: UnsafeMutablePointer<Int>
    /// Where JSON strings with escapes are decoded: decoding never makes them longer, so a record's
    /// worth of bytes is enough. Owned.
    let scratch: UnsafeMutableRawBufferPointer
    private let csv: CSVRowParser?
    private let payloads: LocaleTable
    private let collapseTemplate: TemplateMemory?
    private let payloadMemory: UnsafeMutableRawBufferPointer  // owned; as large as the limit
    private let collapseMemory: UnsafeMutableRawBufferPointer  // owned; as large as the limit
    private let tokenMemory: UnsafeMutableRawBufferPointer  // owned
    /// Where a too large row's values are written to be measured; touched by such rows alone.
    /// Owned.
    private let measuringMemory: UnsafeMutableRawBufferPointer
    private var tokenBytes = 0
    /// The latest row, borrowed until `render`.
    private var record = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Binds the campaign's columns.
    ///
    /// `header` is the header of a CSV file, and nil for NDJSON. Errors: a column that the campaign
    /// uses and the header does not have.
    package init(
        campaign: Campaign, format: RecipientFormat, header: CSVHeader?
    ) throws(CampaignError) {
        precondition((format == .csv) == (header != nil))
        let columns = try RowColumns(campaign: campaign, header: header)
        self.columns = columns
        csv = header.map(CSVRowParser.init(header:))
        columnCount = columns.names.count
        values = .allocate(capacity: columnCount)
        values.initialize(repeating: FieldValue(), count: columnCount)
        nameEnds = .allocate(capacity: columnCount)
        let nameBytes = columns.names.flatMap { Array($0.utf8) }
        names = .allocate(byteCount: max(1, nameBytes.count), alignment: 1)
        names.copyBytes(from: nameBytes)
        var end = 0
        for (index, name) in columns.names.enumerated() {
            end += name.utf8.count
            nameEnds[index] = end
        }
        scratch = .allocate(
            byteCount: header == nil ? RecordLimits.recordBytesMax : 1, alignment: 1)
        payloads = LocaleTable(campaign.payloads, columns: columns)
        collapseTemplate = campaign.collapseID.map { TemplateMemory($0, columns: columns) }
        payloadMemory = .allocate(byteCount: campaign.pushType.payloadBytesMax, alignment: 16)
        collapseMemory = .allocate(byteCount: APNSLimits.collapseIDBytesMax, alignment: 16)
        tokenMemory = .allocate(byteCount: DeviceToken.hexCharactersMax, alignment: 16)
        // A value is no longer than its record, and an escape has at most six bytes (RFC 8259).
        measuringMemory = .allocate(byteCount: 6 * RecordLimits.recordBytesMax, alignment: 16)
    }

    deinit {
        values.deallocate()
        nameEnds.deallocate()
        names.deallocate()
        scratch.deallocate()
        payloads.deallocate()
        collapseTemplate?.deallocate()
        payloadMemory.deallocate()
        collapseMemory.deallocate()
        tokenMemory.deallocate()
        measuringMemory.deallocate()
    }

    /// Reads a record: whether it is readable, then its token. Nil when all is well.
    ///
    /// Ownership: the record's bytes must stay until `render` was called.
    package func read(_ record: UnsafeRawBufferPointer) -> RowProblem? {
        tokenBytes = 0
        self.record = record
        guard record.count <= RecordLimits.recordBytesMax else { return RowProblem(.recordTooLong) }
        if let problem = csv == nil ? readJSON(record) : readCSV(record) { return problem }
        let value = values[RowColumns.tokenIndex]
        switch value.kind {
        case .none: return problem(.missingToken, RowColumns.tokenIndex, "no value in")
        case .text, .plainText:
            guard let length = DeviceToken.normalise(value.text, into: tokenMemory) else { break }
            tokenBytes = length
            return nil
        case .scalar, .nested: break
        }
        return problem(.badTokenForm, RowColumns.tokenIndex, "no device token in hexadecimal in")
    }

    /// Makes the payload and the collapse id of the record that was read last. Nil when all is
    /// well.
    ///
    /// Sizes are bytes of UTF-8 of the final JSON.
    package func render() -> RowProblem? {
        if let problem = registrationProblem() { return problem }
        latestPayloadIndex = payloads.choice(for: localeText)
        guard let template = payloads.template(latestPayloadIndex) else {
            let index = columns.localeIndex
            return values[index].kind == .none
                ? problem(.missingValue, index, "there is no payload for a row without a value in")
                : problem(.badValue, index, "there is no payload for the locale in")
        }
        if template.isFixed {
            latestPayload = template.bytes
        } else {
            var buffer = RenderBuffer(payloadMemory)
            if let problem = fill(&buffer, template, tooLarge: .invalidPayloadTooLarge) {
                return problem
            }
            latestPayload = buffer.bytes
        }
        return renderCollapseID()
    }

    private func renderCollapseID() -> RowProblem? {
        guard let template = collapseTemplate else { return nil }
        if template.isFixed {
            latestCollapseID = template.bytes
            return nil
        }
        var buffer = RenderBuffer(collapseMemory)
        if let problem = fill(&buffer, template, tooLarge: .collapseIDTooLong) { return problem }
        // RFC 9113, 8.2.1: a header's value neither begins nor ends with a blank.
        if buffer.bytes.first == 32 || buffer.bytes.last == 32 {
            return RowProblem(
                .badValue, detail: .text("the collapse id begins or ends with a blank"))
        }
        latestCollapseID = buffer.bytes
        return nil
    }

    // MARK: Rendering

    private func fill(
        _ buffer: inout RenderBuffer, _ template: TemplateMemory, tooLarge: FinalCode
    ) -> RowProblem? {
        for segment in template.segments {
            let index = Int(segment.columnIndex)
            if index < 0 || values[index].kind == .none {
                if index >= 0 && !segment.hasDefault {
                    return problem(.missingValue, index, "no value and no default for")
                }
                guard buffer.append(template.bytes(of: segment)) else {
                    return sizeProblem(tooLarge, template, bytesMax: buffer.bytesMax)
                }
                continue
            }
            switch write(values[index], as: segment.kind, to: &buffer) {
            case .written: continue
            case .noRoom: return sizeProblem(tooLarge, template, bytesMax: buffer.bytesMax)
            case .mismatch: return problem(.badValue, index, "the value does not fit its type:")
            }
        }
        return nil
    }

    /// The problem of a row that does not fit, with the size that it would have: every value is
    /// written again, one after the other into the same memory. Values that would be refused count
    /// nothing.
    private func sizeProblem(
        _ code: FinalCode, _ template: TemplateMemory, bytesMax: Int
    ) -> RowProblem {
        var total = 0
        for segment in template.segments {
            let index = Int(segment.columnIndex)
            if index < 0 || values[index].kind == .none {
                total += template.bytes(of: segment).count
                continue
            }
            var buffer = RenderBuffer(measuringMemory)
            if write(values[index], as: segment.kind, to: &buffer) == .written {
                total += buffer.count
            }
        }
        return RowProblem(code, detail: .size(bytes: total, bytesMax: bytesMax))
    }

    private func write(
        _ value: FieldValue, as kind: TemplateSegment.Kind, to buffer: inout RenderBuffer
    ) -> TypedValue.Result {
        switch kind {
        case .text:
            if value.kind == .nested { return .mismatch }
            let fits =
                value.kind == .text ? buffer.appendEscaped(value.text) : buffer.append(value.text)
            return fits ? .written : .noRoom
        case .plain:
            if value.kind == .nested || value.text.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                return .mismatch
            }
            return buffer.append(value.text) ? .written : .noRoom
        case .json where !value.json.isEmpty: return TypedValue.appendCompact(value.json, &buffer)
        default: return TypedValue.write(value.text, as: kind, to: &buffer)
        }
    }

    // MARK: What the row holds

    /// The columns that the campaign uses, each once, the token's first.
    package var columnNames: [String] { columns.names }

    /// Whether the row that was read last has a value in `columnNames[index]`.
    package func hasValue(_ index: Int) -> Bool {
        precondition(index >= 0 && index < columnCount)
        return values[index].kind != .none
    }

    /// The locale of the row that was read last, as it is written; empty for none, and where the
    /// campaign asks for no locale.
    package var localeText: UnsafeRawBufferPointer {
        let index = columns.localeIndex
        return index < 0 ? UnsafeRawBufferPointer(start: nil, count: 0) : values[index].text
    }

    // MARK: Helpers

    private func readCSV(_ record: UnsafeRawBufferPointer) -> RowProblem? {
        guard let csv else { return nil }
        if let problem = csv.parse(record) { return problem }
        for index in 0..<columnCount {
            let field = csv.field(columns.fieldIndexes[index])
            values[index] = FieldValue(kind: field.isEmpty ? .none : .text, text: field)
        }
        return nil
    }

    private func problem(
        _ code: FinalCode, _ index: Int, _ text: StaticString
    ) -> RowProblem {
        let detail = RowProblem.Detail.named(text, columns.names[index])
        guard let csv else { return RowProblem(code, column: values[index].column, detail: detail) }
        let place = csv.place(ofField: columns.fieldIndexes[index], in: record)
        return RowProblem(
            code, lineDelta: place.lineDelta, column: place.column, detail: detail)
    }
}
