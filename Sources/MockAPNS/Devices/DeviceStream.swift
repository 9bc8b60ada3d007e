internal import HTTP2

/// The open answer over which a connected device gets its notifications, one JSON object per line.
///
/// A notification is taken from the registry only when the device's connection has room for it;
/// what a slow device does not take stays there, under the registry's limits. One that was sent
/// counts as delivered when the device has confirmed it; what is not confirmed when the connection
/// is lost goes back, so that a phone that is killed loses nothing that could be stored.
///
/// *Thread:* its worker's. *Ownership:* the HTTP/2 session holds it while the stream is open.
final class DeviceStream: StreamedBody {
    /// Notifications that were sent and not confirmed: a phone that has stopped gets no more.
    static let unconfirmedMax = 100

    let link: DeviceLink
    private let registry: DeviceRegistry
    private let stream: StreamID
    private weak var connection: MockConnection?
    private weak var streams: DeviceStreams?
    /// The notification that is being written, and how much of it has been.
    private var current: DeviceNotification?
    private var writtenBytes = 0
    /// Sent and not confirmed, in order, each with the mark of the receipt that will confirm it.
    private var unconfirmed: [(mark: UInt32, notification: DeviceNotification)] = []
    private var mark: UInt32 = 0

    init(
        link: DeviceLink, registry: DeviceRegistry, stream: StreamID, connection: MockConnection,
        streams: DeviceStreams
    ) {
        self.link = link
        self.registry = registry
        self.stream = stream
        self.connection = connection
        self.streams = streams
    }

    /// There may be something to send.
    func wake() { connection?.resume(stream) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamedPart {
        let completeBefore = unconfirmed.count
        mark &+= 1
        let (filled, pause) = fill(buffer)
        if unconfirmed.count > completeBefore {
            connection?.session.requestReceipt(for: stream, mark: mark)
        }
        return filled > 0 ? .bytes(filled) : pause
    }

    func received(upTo mark: UInt32) {
        // Marks may wrap around; they are never half the numbers apart.
        let count = unconfirmed.prefix { Int32(bitPattern: mark &- $0.mark) >= 0 }.count
        guard count > 0 else { return }
        let wasFull = unconfirmed.count >= Self.unconfirmedMax
        registry.confirm(unconfirmed.prefix(count).map(\.notification), for: link)
        unconfirmed.removeFirst(count)
        if wasFull { wake() }
    }

    func streamEnded() {
        streams?.remove(link)
        let undelivered = unconfirmed.map(\.notification) + (current.map { [$0] } ?? [])
        registry.disconnect(link, undelivered: undelivered, nowSeconds: wallClockSeconds())
    }

    /// Writes what there is and fits; what to answer when that is nothing.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> (filled: Int, pause: StreamedPart)
    {
        var filled = 0
        while filled < buffer.count {
            if current == nil {
                guard unconfirmed.count < Self.unconfirmedMax else { return (filled, .later) }
                switch registry.next(for: link) {
                case .notification(let notification): current = notification
                case .nothing: return (filled, .later)
                case .end: return (filled, .end)
                }
            }
            filled += write(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
        }
        return (filled, .later)
    }

    /// Writes what fits of the current notification.
    private func write(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let notification = current else { return 0 }
        let line = notification.line
        let part = line[writtenBytes...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        writtenBytes += part.count
        if writtenBytes == line.count {
            unconfirmed.append((mark, notification))
            current = nil
            writtenBytes = 0
        }
        return part.count
    }
}

/// The open streams of one worker's devices.
///
/// *Thread:* the worker's.
final class DeviceStreams {
    private var streams: [ObjectIdentifier: DeviceStream] = [:]

    func add(_ stream: DeviceStream) { streams[ObjectIdentifier(stream.link)] = stream }

    func remove(_ link: DeviceLink) { streams[ObjectIdentifier(link)] = nil }

    /// A message for a link came.
    func deliver(_ link: DeviceLink) {
        link.signalTaken()
        streams[ObjectIdentifier(link)]?.wake()
    }
}
