internal import APNS
internal import JSON

/// What a payload must hold to be of use with its push type. Apple, "Generating a remote
/// notification" and "Pushing background updates to your App".
struct PayloadRules {
    let file: String
    /// Where the payload stands in the manifest, such as "payloads.ru".
    let path: String
    let pushType: PushType

    func check(_ payload: JSONNode) throws(CampaignError) {
        guard payload.members != nil else {
            throw error(
                payload.position, "\"\(path)\" is \(payload.kindName)",
                "write an object such as { aps: { alert: \"…\" } }")
        }
        guard let aps = payload["aps"] else {
            guard pushType == .alert || pushType == .background else { return }
            throw error(
                payload.position,
                "\"\(path)\" has no aps, which pushType \"\(pushType.name)\" needs",
                pushType == .alert
                    ? "add aps: { alert: \"…\" }" : "add aps: { \"content-available\": 1 }")
        }
        guard aps.members != nil else {
            throw error(aps.position, "\"\(path).aps\" is \(aps.kindName)", "write an object { … }")
        }
        try checkKinds(aps)
        if pushType == .background { try checkBackground(aps) }
        if pushType == .alert { try checkAlert(aps) }
    }

    private func checkBackground(_ aps: JSONNode) throws(CampaignError) {
        for key in ["alert", "badge", "sound"] {
            guard let value = aps[key] else { continue }
            throw error(
                value.position, "\"\(path).aps.\(key)\" is shown, and pushType is \"background\"",
                "remove it, or write pushType: \"alert\"")
        }
        guard let value = aps["content-available"], value.asInt == 1 else {
            throw error(
                aps["content-available"]?.position ?? aps.position,
                "a background push needs \"content-available\": 1 in \"\(path).aps\"",
                "write it so")
        }
    }

    /// Devices drop a background push that is sent as an alert.
    private func checkAlert(_ aps: JSONNode) throws(CampaignError) {
        guard aps["content-available"] != nil,
            !["alert", "badge", "sound"].contains(where: { aps[$0] != nil })
        else { return }
        throw error(
            aps.position, "\"\(path).aps\" shows nothing, and pushType is \"alert\"",
            "write pushType: \"background\", or add an alert, a badge or a sound")
    }

    /// The kinds of value that Apple's table of aps keys names, where a slip is likely.
    private func checkKinds(_ aps: JSONNode) throws(CampaignError) {
        for key in ["badge", "content-available", "mutable-content"] {
            guard let value = aps[key] else { continue }
            if value.asDouble != nil || isPlaceholder(value, of: [.int, .number, .json]) {
                continue
            }
            throw error(
                value.position, "\"\(path).aps.\(key)\" is \(value.kindName)",
                "write a number, or a placeholder alone in its string, such as \"{{\(key):int}}\"")
        }
        for key in ["alert", "sound"] {
            guard let value = aps[key] else { continue }
            if value.asString != nil || value.members != nil { continue }
            throw error(
                value.position, "\"\(path).aps.\(key)\" is \(value.kindName)",
                "write a string or an object")
        }
    }

    private func isPlaceholder(_ value: JSONNode, of kinds: [Placeholder.Kind]) -> Bool {
        guard let text = value.asString, let pieces = try? PlaceholderParser.pieces(of: text),
            pieces.count == 1, case .placeholder(let placeholder) = pieces[0]
        else {
            // A broken placeholder is the compiler's to report.
            return value.asString?.contains("{{") == true && value.asString?.contains("}}") == false
        }
        return kinds.contains(placeholder.kind)
    }

    private func error(
        _ position: JSONPosition, _ message: String, _ remedy: String
    ) -> CampaignError {
        CampaignError(
            file: file, line: position.line, column: position.column, message: message,
            remedy: remedy)
    }
}
