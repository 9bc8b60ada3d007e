internal import APNS
internal import JSON

extension RowReader {
    /// Scans the record once, from end to end, and keeps the values of the campaign's columns.
    func readJSON(_ record: UnsafeRawBufferPointer) -> RowProblem? {
        values.update(repeating: FieldValue(), count: columnCount)
        var scanner = JSONScanner(record)
        do throws(JSONError) {
            let first = try scanner.next()
            guard first == .beginObject else {
                _ = try scanner.finishValue(first)
                _ = try scanner.next()
                return RowProblem(.notAnObject, column: scanner.position.column)
            }
            return try readMembers(&scanner)
        } catch {
            let isText = error.fault == .badUTF8
            return RowProblem(
                isText ? .brokenUTF8 : .brokenJSON, lineDelta: error.line - 1, column: error.column,
                detail: .text(error.fault.text))
        }
    }

    private func readMembers(_ scanner: inout JSONScanner) throws(JSONError) -> RowProblem? {
        var scratchUsed = 0
        while case let token = try scanner.next(), token != .endObject {
            let index = column(named: scanner.text)
            let keyPosition = scanner.position
            let first = try scanner.next()
            guard index >= 0 else {
                _ = try scanner.finishValue(first)
                continue
            }
            if values[index].isPresent {
                throw JSONError(position: keyPosition, fault: .repeatedKey)
            }
            try keep(first, index, &scanner, &scratchUsed)
        }
        _ = try scanner.next()
        return nil
    }

    private func keep(
        _ first: JSONToken, _ index: Int, _ scanner: inout JSONScanner, _ scratchUsed: inout Int
    ) throws(JSONError) {
        var value = FieldValue(isPresent: true, column: scanner.position.column)
        let text = scanner.text
        value.json = try scanner.finishValue(first)
        switch first {
        case .null: value.kind = .none
        case .string where text.raw.isEmpty: value.kind = .none
        case .string where text.hasEscapes:
            value.kind = .text
            let target = UnsafeMutableRawBufferPointer(rebasing: scratch[scratchUsed...])
            let length = text.decode(into: target)
            value.text = UnsafeRawBufferPointer(rebasing: target[..<length])
            scratchUsed += length
        case .string:
            value.kind = .plainText
            value.text = text.raw
        case .beginObject, .beginArray:
            value.kind = .nested
            value.text = value.json
        default:
            value.kind = .scalar
            value.text = value.json
        }
        values[index] = value
    }

    /// The index of the column with this name; -1 when the campaign does not use it.
    private func column(named key: JSONText) -> Int {
        var start = 0
        for index in 0..<columnCount {
            let end = nameEnds[index]
            if key.equals(UnsafeRawBufferPointer(rebasing: names[start..<end])) { return index }
            start = end
        }
        return -1
    }
}
