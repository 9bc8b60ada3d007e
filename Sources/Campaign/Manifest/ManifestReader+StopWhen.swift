internal import JSON

/// What ends a campaign, or a row, early.
extension ManifestReader {
    private static let never = "never"

    func stopWhen() throws(CampaignError) -> StopWhen {
        guard let node = root.node["stopWhen"] else { return .standard }
        let section = try ManifestObject(
            node, path: "stopWhen", file: source.path,
            known: ["badDeviceToken", "failures", "deadline"])
        return StopWhen(
            badDeviceToken: try share(
                "badDeviceToken", of: section, word: "first",
                answers: StopWhen.badDeviceTokenAnswersMin...StopWhen.answersMax,
                standard: StopWhen.standard.badDeviceToken),
            failures: try share(
                "failures", of: section, word: "last", answers: 1...StopWhen.answersMax,
                standard: StopWhen.standard.failures),
            deadline: try deadline(section))
    }

    /// "50% of the first 1000" or "never".
    private func share(
        _ key: String, of section: ManifestObject, word: String, answers range: ClosedRange<Int>,
        standard: StopWhen.Share?
    ) throws(CampaignError) -> StopWhen.Share? {
        guard let text = try section.string(key) else { return standard }
        if text == Self.never { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let middle = ["of", "the", Substring(word)]
        guard words.count == 5, words[0].hasSuffix("%"), words[1...3].elementsEqual(middle),
            let percent = Self.number(words[0].dropLast()), let answers = Self.number(words[4])
        else {
            let standard = standard.map { "\($0.percent)% of the \(word) \($0.answers)" } ?? ""
            throw section.error(
                key, "\(section.name(key)) is no such share: \"\(text)\"",
                "write \"\(standard)\" with numbers of your own, or \"\(Self.never)\"")
        }
        guard 1...100 ~= percent else {
            throw section.error(
                key, "\(section.name(key)) is out of range: \"\(text)\"", "write 1% to 100%")
        }
        guard range ~= answers else {
            throw section.error(
                key, "\(section.name(key)) is out of range: \"\(text)\"",
                "write \(range.lowerBound) to \(range.upperBound) answers")
        }
        return StopWhen.Share(percent: percent, answers: answers)
    }

    /// Whether the instant has passed is a question of the moment of sending.
    private func deadline(_ section: ManifestObject) throws(CampaignError) -> Int64? {
        guard let text = try section.string("deadline"), text != Self.never else { return nil }
        guard let instant = ManifestInstant.unixSeconds(text) else {
            throw section.error(
                "deadline", "\(section.name("deadline")) is no instant: \"\(text)\"",
                "write one as \"2026-03-14T21:00:00+02:00\", or \"\(Self.never)\"")
        }
        return instant
    }

    /// Milliseconds after which rows that failed are sent once more; nil: they are not.
    func secondPassMs(_ section: ManifestObject) throws(CampaignError) -> UInt64? {
        try section.duration("secondPass", in: 1...86_400_000).map { UInt64($0) }
    }

    private static func number(_ digits: Substring) -> Int? {
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(digits)
    }
}
