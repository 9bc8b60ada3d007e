/// The payloads of a campaign by locale, in plain memory.
///
/// A row's locale is looked up as RFC 4647 section 3.4 describes: the locale itself, then without
/// its last part ("pt-BR", then "pt"), then the payload for everybody.
/// Ownership: the row reader that made it deallocates it.
struct LocaleTable {
    private let standard: TemplateMemory?
    private let templates: [TemplateMemory]
    /// The compared forms one after the other; the end of each in `formEnds`.
    private let forms: UnsafeMutableRawBufferPointer
    private let formEnds: [Int]
    private let scratch: UnsafeMutableRawBufferPointer

    init(_ payloads: PayloadSet, columns: RowColumns) {
        standard = payloads.standard.map { TemplateMemory($0, columns: columns) }
        templates = payloads.byLocale.map { TemplateMemory($0.template, columns: columns) }
        let bytes = payloads.byLocale.map { LocaleForm.of($0.locale) }
        forms = .allocate(byteCount: max(1, bytes.reduce(0) { $0 + $1.count }), alignment: 1)
        forms.copyBytes(from: bytes.flatMap { $0 })
        var ends: [Int] = []
        for form in bytes { ends.append((ends.last ?? 0) + form.count) }
        formEnds = ends
        scratch = .allocate(byteCount: LocaleForm.bytesMax, alignment: 1)
    }

    func deallocate() {
        standard?.deallocate()
        for template in templates { template.deallocate() }
        forms.deallocate()
        scratch.deallocate()
    }

    /// What ``choice(for:)`` says where no locale's payload fits: the one for everybody.
    static let standardChoice = -1

    /// The template of a choice; nil when there is no payload for everybody.
    func template(_ choice: Int) -> TemplateMemory? {
        choice == Self.standardChoice ? standard : templates[choice]
    }

    /// Which payload a row of this locale gets: an index into those by locale, or
    /// `standardChoice`. Allocates nothing.
    func choice(for locale: UnsafeRawBufferPointer) -> Int {
        if templates.isEmpty { return Self.standardChoice }
        var count = LocaleForm.write(locale, to: scratch)
        while count > 0 {
            let form = UnsafeRawBufferPointer(rebasing: scratch[..<count])
            var start = 0
            for index in 0..<formEnds.count {
                let end = formEnds[index]
                if end - start == count, forms[start..<end].elementsEqual(form) {
                    return index
                }
                start = end
            }
            count = LocaleForm.shortened(form)
        }
        return Self.standardChoice
    }
}
