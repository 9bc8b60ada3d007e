internal import EventLoop
internal import Transport

/// A connection's distance: what arrives is handed to the session one round trip later. So answers,
/// WINDOW_UPDATEs and acknowledgements of SETTINGS come that much later, as from afar.
///
/// *Thread*: the worker's. *Limits*: `bytesMax`; above it the socket is not read, as a full window
/// of TCP would have it.
final class HeldBytes {
    private static let bytesMax = 1 << 20

    private unowned let worker: MockWorker
    private weak var connection: Connection?
    private let delayNs: UInt64
    private var pieces: [[UInt8]] = []
    private var byteCount = 0

    /// Holds back what `connection` reads from now on.
    init(_ connection: Connection, delayNs: UInt64, worker: MockWorker) {
        self.connection = connection
        self.delayNs = delayNs
        self.worker = worker
        connection.holdBytes = { [unowned self] bytes in hold(bytes) }
    }

    private func hold(_ bytes: UnsafeRawBufferPointer) {
        pieces.append(Array(bytes))
        byteCount += bytes.count
        if byteCount > Self.bytesMax { connection?.pauseReading() }
        let isKept = worker.delays.add(atNs: worker.loop.nowNs + delayNs) { [weak self] in
            self?.deliverFirst()
        }
        // Without a place in the queue nobody would come for this piece: all go now, in order. The
        // entries that wait find nothing left.
        if !isKept { while !pieces.isEmpty { deliverFirst() } }
    }

    private func deliverFirst() {
        guard !pieces.isEmpty else { return }
        let piece = pieces.removeFirst()
        byteCount -= piece.count
        piece.withUnsafeBytes { connection?.deliver($0) }
        if byteCount <= Self.bytesMax / 2 { connection?.resumeReading() }
    }
}
