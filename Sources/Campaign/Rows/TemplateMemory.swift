/// A template in plain memory, bound to a row reader's columns, for rendering without touching an
/// array.
///
/// Ownership: the row reader that made it deallocates it.
struct TemplateMemory {
    let bytes: UnsafeRawBufferPointer
    let segments: UnsafeBufferPointer<TemplateSegment>
    let isFixed: Bool

    init(_ template: Template, columns: RowColumns) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, template.bytes.count), alignment: 1)
        bytes.copyBytes(from: template.bytes)
        let segments = UnsafeMutableBufferPointer<TemplateSegment>.allocate(
            capacity: template.segments.count)
        for (index, segment) in template.segments.enumerated() {
            var bound = segment
            if segment.columnIndex >= 0 {
                let name = template.columns[Int(segment.columnIndex)].name
                bound.columnIndex = Int32(columns.index(of: name))
            }
            segments.initializeElement(at: index, to: bound)
        }
        self.bytes = UnsafeRawBufferPointer(rebasing: bytes[..<template.bytes.count])
        self.segments = UnsafeBufferPointer(segments)
        isFixed = template.isFixed
    }

    func deallocate() {
        bytes.deallocate()
        segments.deallocate()
    }

    /// The fixed bytes or the default of a segment.
    func bytes(of segment: TemplateSegment) -> UnsafeRawBufferPointer {
        let start = Int(segment.offset)
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(segment.count)])
    }
}
