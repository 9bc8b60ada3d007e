import HTTP2
import Testing

@Suite struct HTTP2ErrorsTests {
    /// The names and numbers of RFC 9113, section 7.
    @Test func codesHaveTheNamesOfTheRFC() {
        #expect(HTTP2ErrorCode.noError.description == "NO_ERROR (0)")
        #expect(HTTP2ErrorCode.refusedStream.description == "REFUSED_STREAM (7)")
        #expect(HTTP2ErrorCode.enhanceYourCalm.description == "ENHANCE_YOUR_CALM (11)")
        #expect(HTTP2ErrorCode(rawValue: 13).description == "HTTP_1_1_REQUIRED (13)")
        #expect(HTTP2ErrorCode(rawValue: 14).description == "unknown code (14)")
        #expect(HTTP2ErrorCode(rawValue: UInt32.max).description == "unknown code (4294967295)")
    }

    @Test func anErrorSaysWhatWasWrong() {
        let error = HTTP2Error(code: .compressionError, message: "a broken header block")
        #expect(
            error.description
                == "HTTP/2 connection error: a broken header block, COMPRESSION_ERROR (9)")
    }
}
