import HTTP2
import TestSupport
import Testing

@Suite struct OutputBufferTests {
    private func append(_ bytes: [UInt8], to buffer: OutputBuffer) -> Bool {
        bytes.withUnsafeBytes { buffer.append($0) }
    }

    @Test func takesWhatFitsAndNothingOfWhatDoesNot() {
        let buffer = OutputBuffer(capacityBytes: 4)
        #expect(append([1, 2, 3], to: buffer))
        #expect(!append([4, 5], to: buffer))
        #expect(append([4], to: buffer))
        #expect(buffer.free == 0 && Array(buffer.readable) == [1, 2, 3, 4])
        #expect(append([], to: buffer) && buffer.reserve(1) == nil)
    }

    @Test func winsRoomBackAtTheFront() {
        let buffer = OutputBuffer(capacityBytes: 4)
        #expect(append([1, 2, 3, 4], to: buffer))
        buffer.consume(3)
        #expect(append([5, 6, 7], to: buffer))
        #expect(Array(buffer.readable) == [4, 5, 6, 7])
        #expect(buffer.consumedTotal == 3 && buffer.appendedTotal == 7)
    }

    @Test func behavesAsAQueueForAnySequenceOfCalls() {
        var random = SeededGenerator()
        let buffer = OutputBuffer(capacityBytes: 61)
        var model: [UInt8] = []
        for step in 0..<10_000 {
            let byteCount = Int.random(in: 0...40, using: &random)
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: byteCount)
            switch Int.random(in: 0...2, using: &random) {
            case 0:
                let fits = model.count + byteCount <= 61
                #expect(append(bytes, to: buffer) == fits)
                if fits { model += bytes }
            case 1:
                guard let room = buffer.reserve(byteCount) else {
                    #expect(model.count + byteCount > 61)
                    continue
                }
                room.copyBytes(from: bytes)
                buffer.commit(byteCount)
                model += bytes
            default:
                let taken = min(byteCount, model.count)
                buffer.consume(taken)
                model.removeFirst(taken)
            }
            #expect(Array(buffer.readable) == model)
        }
    }
}
