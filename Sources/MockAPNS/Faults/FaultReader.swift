internal import HTTP2
internal import JSON

/// Makes a rule from keys and values.
struct FaultReader {
    /// The keys that say when.
    static let triggerKeys = ["p", "every", "token", "from", "to", "times", "per"]

    private let fields: [FaultField]
    private let place: String

    /// The fault that `fields` describe; `place` is where they begin.
    static func rule(_ fields: [FaultField], place: String) throws(FaultError) -> FaultRule {
        let reader = FaultReader(fields: fields, place: place)
        let (kind, field) = try reader.findKind()
        try reader.refuseOthers(than: kind)
        let rule = FaultRule(
            action: try reader.action(kind, field), trigger: try reader.trigger(kind))
        return rule
    }

    // MARK: Keys

    /// The one key that names what to do. A reason alone will do for a status.
    private func findKind() throws(FaultError) -> (FaultKind, FaultField) {
        let found = fields.compactMap { field in FaultKind.named(field.key).map { ($0, field) } }
        if found.count > 1 {
            let (first, second) = (found[0].1, found[1].1)
            throw FaultError(
                second.keyPlace,
                "\(first.key) and \(second.key) are two faults; write each on its own")
        }
        if let found = found.first { return found }
        if let reason = self["reason"] { return (.status, reason) }
        let known = FaultKind.allCases.map(\.row.key)
        let others = fields.filter { !Self.triggerKeys.contains($0.key) }
        guard let wrong = others.first else {
            throw FaultError(
                place, "nothing says what to do; begin with one of \(Self.list(known))")
        }
        throw FaultError(
            wrong.keyPlace,
            "\"\(wrong.key)\" is no fault; \(Suggestion.remedy(for: wrong.key, among: known, noun: "fault"))"
        )
    }

    private func refuseOthers(than kind: FaultKind) throws(FaultError) {
        let known = [kind.row.key] + kind.row.parameters + Self.triggerKeys
        for (index, field) in fields.enumerated() {
            guard known.contains(field.key) else {
                throw FaultError(
                    field.keyPlace,
                    "\(kind.row.key) has no \"\(field.key)\"; "
                        + Suggestion.remedy(for: field.key, among: known, noun: "key"))
            }
            if fields[..<index].contains(where: { $0.key == field.key }) {
                throw FaultError(field.keyPlace, "\(field.key) is given twice; keep one of them")
            }
        }
    }

    private subscript(key: String) -> FaultField? { fields.first { $0.key == key } }

    private static func list(_ words: [String]) -> String { words.joined(separator: ", ") }

    // MARK: Values

    /// The value of `key` as `parse` reads it; nil when it is not given.
    private func value<Value>(
        _ key: String, _ form: String, _ parse: (String) -> Value?
    ) throws(FaultError) -> Value? {
        guard let field = self[key] else { return nil }
        guard let value = parse(field.value) else { throw Self.wrong(field, form) }
        return value
    }

    private static func wrong(_ field: FaultField, _ form: String) -> FaultError {
        let given = field.value.isEmpty ? "without a value" : "\"\(field.value)\""
        return FaultError(field.valuePlace, "\(field.key) takes \(form); here it is \(given)")
    }

    private func own<Value>(
        _ field: FaultField, _ form: String, _ parse: (String) -> Value?
    ) throws(FaultError) -> Value {
        guard let value = parse(field.value) else { throw Self.wrong(field, form) }
        return value
    }

    private func trigger(_ kind: FaultKind) throws(FaultError) -> FaultTrigger {
        var trigger = FaultTrigger()
        let count = "a whole number from 1"
        if let p = try value("p", "a probability from 0 to 1", FaultValue.probability) {
            trigger.probability = p
        }
        if let every = try value("every", count, FaultValue.positive) { trigger.every = every }
        if let times = try value("times", count, FaultValue.positive) { trigger.times = times }
        if let token = try value(
            "token", "the first hexadecimal digits of a device token", FaultValue.tokenPrefix)
        {
            trigger.tokenPrefix = token
        }
        if let from = try value("from", FaultValue.timeForm, FaultValue.nanoseconds) {
            trigger.fromNs = from
        }
        if let to = try value("to", FaultValue.timeForm, FaultValue.nanoseconds) {
            trigger.toNs = to
        }
        if let to = self["to"], trigger.toNs <= trigger.fromNs {
            throw FaultError(to.valuePlace, "the window ends before it begins; make to later")
        }
        trigger.isPerConnection = try isPerConnection(kind)
        if trigger.isPerConnection, let token = self["token"] {
            throw FaultError(token.keyPlace, "a connection has no device token; remove token")
        }
        return trigger
    }

    private func isPerConnection(_ kind: FaultKind) throws(FaultError) -> Bool {
        let given = try value("per", "request or connection") {
            $0 == "connection" ? true : $0 == "request" ? false : nil
        }
        switch kind.row.moment {
        case .requestOrConnection: return given ?? false
        case .connection:
            guard given != false else { throw misplaced(kind, "request") }
            return true
        case .request:
            guard given != true else { throw misplaced(kind, "connection") }
            return false
        }
    }

    private func misplaced(_ kind: FaultKind, _ word: String) -> FaultError {
        FaultError(
            self["per"]?.valuePlace ?? place,
            "\(kind.row.key) cannot strike per \(word); remove per")
    }

    // MARK: Actions

    private func action(_ kind: FaultKind, _ field: FaultField) throws(FaultError) -> FaultAction {
        switch kind {
        case .status: return .status(try answer(field))
        case .stuck: return .stuck(try answer(field))
        case .latency: return .latency(try own(field, FaultValue.delayForm, FaultValue.delay))
        case .roundTrip: return .roundTrip(ns: try time(field))
        case .slowHandshake: return .slowHandshake(ns: try time(field))
        case .goAway: return .goAway(try goAway(field))
        case .reset: return .reset(try own(field, FaultValue.codeForm, FaultValue.errorCode))
        case .settings: return .settings(try settings(field))
        case .hangUp:
            return .hangUp(
                afterTLS: try own(field, "tcp or tls") {
                    $0 == "tls" ? true : $0 == "tcp" || $0.isEmpty ? false : nil
                })
        case .tokenRate: return .tokenRate(perSecond: try rate(field))
        case .connectionRate: return .connectionRate(perSecond: try rate(field))
        case .silence, .halfOpen, .cut, .noWindowUpdate:
            guard field.value.isEmpty else {
                throw FaultError(
                    field.valuePlace, "\(field.key) takes no value; write \(field.key) alone")
            }
            switch kind {
            case .silence: return .silence
            case .halfOpen: return .halfOpen
            case .cut: return .cut
            default: return .noWindowUpdate
            }
        }
    }

    private func time(_ field: FaultField) throws(FaultError) -> UInt64 {
        try own(field, FaultValue.timeForm, FaultValue.nanoseconds)
    }

    private func rate(_ field: FaultField) throws(FaultError) -> Double {
        try own(field, "a number per second above 0", FaultValue.rate)
    }

    /// A status, a reason, or both: the one that is missing follows from the other.
    private func answer(_ field: FaultField) throws(FaultError) -> FaultAnswer {
        let reason = try value("reason", FaultValue.reasonForm, FaultValue.reason)
        let timestamp = try value("timestamp", "milliseconds since 1970", Int64.init)
        if field.key == "reason", let reason {
            guard let status = FaultReasons.status(of: reason) else {
                let near = Suggestion.remedy(for: reason, among: FaultReasons.names, noun: "reason")
                throw FaultError(
                    field.valuePlace,
                    "the status of \"\(reason)\" is not known; \(near) or give status=CODE too")
            }
            return FaultAnswer(status: status, reason: reason, timestampMs: timestamp)
        }
        let status = try own(field, "a status from 200 to 599", FaultValue.status)
        return FaultAnswer(
            status: status, reason: reason ?? FaultReasons.usual(for: status),
            timestampMs: timestamp)
    }

    private func goAway(_ field: FaultField) throws(FaultError) -> FaultGoAway {
        var goAway = FaultGoAway(
            isGraceful: try own(field, "now or graceful") {
                $0 == "graceful" ? true : $0 == "now" || $0.isEmpty ? false : nil
            })
        if let text = try value("text", "at most 512 bytes of text", FaultValue.debugText) {
            goAway.debugData = text
        }
        if let reason = try value("reason", FaultValue.reasonForm, FaultValue.reason) {
            if let text = self["text"] {
                throw FaultError(text.keyPlace, "reason and text exclude each other; keep one")
            }
            goAway.debugData = Array("{\"reason\":\"\(reason)\"}".utf8)
        }
        if let code = try value("code", FaultValue.codeForm, FaultValue.errorCode) {
            goAway.code = code
        }
        if let count = try value("unprocessed", "a whole number up to 1000", FaultValue.upTo(1000))
        {
            goAway.unprocessed = count
        }
        if let wait = try value("wait", FaultValue.timeForm, FaultValue.nanoseconds) {
            goAway.waitNs = wait
        }
        return goAway
    }

    private func settings(_ field: FaultField) throws(FaultError) -> FaultSettings {
        guard field.value.isEmpty else {
            throw FaultError(field.valuePlace, "settings takes no value; write settings streams=1")
        }
        let settings = FaultSettings(
            streams: try value("streams", "a whole number up to 1000", FaultValue.upTo(1000)),
            windowBytes: try value(
                "window", "bytes up to 2147483647", FaultValue.upTo(Int(Int32.max))),
            tableBytes: try value("table", "bytes up to 65536", FaultValue.upTo(65_536)))
        guard settings != FaultSettings() else {
            throw FaultError(
                field.keyPlace, "settings changes nothing; add streams=N, window=N or table=N")
        }
        return settings
    }
}
