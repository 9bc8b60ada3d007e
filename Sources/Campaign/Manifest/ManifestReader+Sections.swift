internal import APNS
internal import JSON

extension ManifestReader {
    // MARK: Columns

    func columns() throws(CampaignError) -> ColumnNames {
        guard let node = root.node["columns"] else {
            return ColumnNames(
                token: "token", locale: "locale", registeredAt: nil, timeZone: nil)
        }
        let section = try section(
            "columns", node, known: ["token", "locale", "registeredAt"], unsupported: ["timeZone"])
        return ColumnNames(
            token: try section.nonEmptyString("token") ?? "token",
            locale: try section.nonEmptyString("locale") ?? "locale",
            registeredAt: try section.nonEmptyString("registeredAt"), timeZone: nil)
    }

    // MARK: Payloads

    func payloads(for pushType: PushType) throws(CampaignError) -> PayloadSet {
        var standard: Template?
        if let node = root.node["payload"] {
            standard = try payload("payload", node, pushType)
        }
        var byLocale: [LocalePayload] = []
        if let node = root.node["payloads"] {
            guard let members = node.members, !members.isEmpty else {
                throw root.wrongKind("payloads", node, "an object of payloads by locale")
            }
            for member in members {
                try checkLocale(member, among: byLocale)
                let template = try payload("payloads.\(member.key)", member.value, pushType)
                byLocale.append(LocalePayload(locale: member.key, template: template))
            }
        }
        if standard == nil && byLocale.isEmpty {
            throw root.missing("payload", example: "{ aps: { alert: \"…\" } }")
        }
        return PayloadSet(standard: standard, byLocale: byLocale)
    }

    private func payload(
        _ path: String, _ node: JSONNode, _ pushType: PushType
    ) throws(CampaignError) -> Template {
        try PayloadRules(file: source.path, path: path, pushType: pushType).check(node)
        let template = try TemplateCompiler.payload(node, file: source.path)
        guard template.bytesMin <= pushType.payloadBytesMax else {
            let kind = template.isFixed ? "" : " without its placeholders"
            throw root.error(
                at: node.position,
                "\"\(path)\" has \(template.bytesMin) bytes\(kind), APNs takes "
                    + "\(pushType.payloadBytesMax) for \(pushType.name)",
                "shorten it by \(template.bytesMin - pushType.payloadBytesMax) bytes")
        }
        return template
    }

    private func checkLocale(
        _ member: JSONMember, among others: [LocalePayload]
    ) throws(CampaignError) {
        let form = LocaleForm.of(member.key)
        guard !form.isEmpty else {
            throw root.error(
                at: member.keyPosition, "\"payloads\" has the locale \"\(member.key)\"",
                "write a locale such as \"pt\" or \"pt-BR\"")
        }
        if let other = others.first(where: { LocaleForm.of($0.locale) == form }) {
            throw root.error(
                at: member.keyPosition,
                "\"payloads\" has \"\(other.locale)\" and \"\(member.key)\", the same locale",
                "keep one of them")
        }
    }

    // MARK: How

    func pacing() throws(CampaignError) -> Pacing {
        guard let node = root.node["pacing"] else {
            return Pacing(
                mode: .adaptive, rate: nil, perConnection: nil, connections: nil, streams: nil,
                rampUpMs: nil)
        }
        let section = try section(
            "pacing", node,
            known: ["mode", "rate", "perConnection", "connections", "streams", "rampUp"],
            unsupported: ["hours"])
        let mode: Pacing.Mode = try section.choice("mode", of: Pacing.Mode.allCases) ?? .adaptive
        let rampUpMs = try section.duration("rampUp", in: 100...3_600_000)
        guard rampUpMs == nil || mode == .adaptive else {
            throw section.error(
                "rampUp", "\(section.name("rampUp")) means nothing in the mode \"\(mode)\"",
                "remove it, or write mode: \"adaptive\"")
        }
        return Pacing(
            mode: mode, rate: try section.rate("rate"),
            perConnection: try section.rate("perConnection"),
            connections: try section.integer("connections", in: 1...1000),
            streams: try section.integer("streams", in: 1...10_000),
            rampUpMs: rampUpMs.map { UInt64($0) })
    }

    func retry() throws(CampaignError) -> RetryPolicy {
        guard let node = root.node["retry"] else {
            return RetryPolicy(
                attempts: 3, serverErrorDelaySeconds: 1...5, secondPassMs: nil, onUnknown: .resend)
        }
        let section = try section(
            "retry", node, known: ["attempts", "serverErrorDelay", "secondPass", "onUnknown"])
        let onUnknown: RetryPolicy.OnUnknown? = try section.choice(
            "onUnknown", of: [.resend, .skip])
        return RetryPolicy(
            attempts: try section.integer("attempts", in: 1...3) ?? 3,
            serverErrorDelaySeconds: try serverErrorDelay(section),
            secondPassMs: try secondPassMs(section),
            onUnknown: onUnknown ?? .resend)
    }

    private func serverErrorDelay(
        _ section: ManifestObject
    ) throws(CampaignError) -> ClosedRange<Double> {
        guard let text = try section.string("serverErrorDelay") else { return 1...5 }
        // Waits above 30 seconds would hold on to memory for nothing: that is what a resume is for.
        guard let range = ManifestDuration.millisecondsRange(text), range.upperBound <= 30_000
        else {
            throw section.error(
                "serverErrorDelay",
                "\(section.name("serverErrorDelay")) is no such range: \"\(text)\"",
                "write two durations up to 30s, such as \"1s..5s\"")
        }
        return Double(range.lowerBound) / 1000...Double(range.upperBound) / 1000
    }

    func timeouts() throws(CampaignError) -> Timeouts {
        guard let node = root.node["timeouts"] else {
            return Timeouts(connectMs: 10_000, requestMs: 30_000, drainMs: 30_000)
        }
        let section = try section("timeouts", node, known: ["connect", "request", "drain"])
        let range: ClosedRange<Int64> = 10...3_600_000
        return Timeouts(
            connectMs: UInt64(try section.duration("connect", in: range) ?? 10_000),
            requestMs: UInt64(try section.duration("request", in: range) ?? 30_000),
            drainMs: UInt64(try section.duration("drain", in: range) ?? 30_000))
    }

    private func section(
        _ key: String, _ node: JSONNode, known: [String], unsupported: [String] = []
    ) throws(CampaignError) -> ManifestObject {
        try ManifestObject(
            node, path: key, file: source.path, known: known, unsupported: unsupported)
    }
}
