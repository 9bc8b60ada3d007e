import APNS

/// Lends the UTF-8 bytes of `text`.
func withBytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
    -> Result
{
    try Array(text.utf8).withUnsafeBytes(body)
}

func classify(_ status: UInt16, _ reason: String) -> AnswerClass {
    withBytes(reason) { Reasons.classify(status: status, reason: $0) }
}
