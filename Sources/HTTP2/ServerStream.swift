/// What a server session knows of one stream: the request while it arrives, the response's body
/// while it is sent. The objects are used again for later streams.
final class ServerStream {
    /// A response's memory above this size is given back when its stream ends.
    private static let responseBytesKeptMax = 4_096

    var id: Int32 = 0
    var request: ServerRequest?
    /// The stream counts as open for the delegate.
    var isOpen = false
    /// All of the request is here.
    var isRequestComplete = false
    /// The headers of a response were submitted.
    var isAnswered = false
    /// The header list that arrives is a request's, not its trailers.
    var isHead = false

    /// The response's body where it is made while it is sent.
    var streamedBody: (any StreamedBody)?

    private var response: UnsafeMutableRawBufferPointer = .init(start: nil, count: 0)  // owned
    private var responseSent = 0
    private var responseBytes = 0

    init() {}

    deinit { response.deallocate() }

    func begin(_ id: Int32, _ request: ServerRequest) {
        self.id = id
        self.request = request
        isOpen = true
        isRequestComplete = false
        isAnswered = false
        responseBytes = 0
        responseSent = 0
        request.begin(StreamID(rawValue: id))
    }

    /// Ends the use for a stream: a large response's memory is given back.
    func end() {
        isOpen = false
        if let body = streamedBody {
            streamedBody = nil
            body.streamEnded()
        }
        guard response.count > Self.responseBytesKeptMax else { return }
        response.deallocate()
        response = .init(start: nil, count: 0)
    }

    /// Copies a response's body, which may have to wait for the client's window.
    func setResponse(_ body: UnsafeRawBufferPointer) {
        if response.count < body.count {
            response.deallocate()
            response = .allocate(byteCount: max(256, body.count), alignment: 16)
        }
        response.copyMemory(from: body)
        responseBytes = body.count
        responseSent = 0
    }

    /// Moves the next bytes of the response; true when they are the last.
    func readResponse(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        let count = min(buffer.count, responseBytes - responseSent)
        let part = UnsafeRawBufferPointer(rebasing: response[responseSent..<responseSent + count])
        buffer.copyMemory(from: part)
        responseSent += count
        return (count, responseSent == responseBytes)
    }
}
