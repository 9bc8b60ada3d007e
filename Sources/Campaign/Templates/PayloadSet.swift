/// The payloads of a campaign: one for everybody, or by locale.
package struct PayloadSet: Sendable {
    /// `payload`: for rows that no locale's payload fits; nil when the manifest has none.
    package let standard: Template?
    /// `payloads`, in the order of the manifest.
    package let byLocale: [LocalePayload]

    /// The whole set, `standard` first.
    package var all: [Template] { (standard.map { [$0] } ?? []) + byLocale.map(\.template) }

    /// Where the manifest has a payload, such as "payloads.ru"; -1 is the one for everybody.
    package func name(of index: Int) -> String {
        index < 0 ? "payload" : "payloads.\(byLocale[index].locale)"
    }
}

/// The payload of one locale.
package struct LocalePayload: Sendable {
    /// As the manifest writes it, such as "pt-BR".
    package let locale: String
    package let template: Template
}

/// The form in which locales are compared: ASCII letters in lower case, "-" between the parts, and
/// nothing of what follows a "." or "@" ("pt_BR.UTF-8", "en_US@calendar=japanese").
package enum LocaleForm {
    /// The longest locale that is compared; RFC 5646 section 4.4.1 asks for 35 characters.
    package static let bytesMax = 64

    /// Writes the form of `locale` and returns its length; 0 when there is none or it is too long.
    static func write(
        _ locale: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer
    ) -> Int {
        var count = 0
        for byte in locale {
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "@") { break }
            if byte == 32 || byte == 9 { continue }
            guard count < min(bytesMax, target.count) else { return 0 }
            let isUpper = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            target[count] =
                byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : isUpper ? byte | 32 : byte
            count += 1
        }
        return count
    }

    /// The form of `locale`; empty when it has none.
    package static func of(_ locale: String) -> [UInt8] {
        var form = [UInt8](repeating: 0, count: bytesMax)
        let count = Array(locale.utf8).withUnsafeBytes { text in
            form.withUnsafeMutableBytes { write(text, to: $0) }
        }
        return Array(form[..<count])
    }

    /// The length of the form one part shorter ("zh-hant-tw" to "zh-hant"); 0 when it has one part.
    static func shortened(_ form: UnsafeRawBufferPointer) -> Int {
        form.lastIndex(of: UInt8(ascii: "-")) ?? 0
    }
}
