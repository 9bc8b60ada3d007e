internal import CLibuv

/// One libuv handle: its memory, and the closure that its events call.
///
/// *Ownership*: libuv decides the end of a handle. Its `data` holds one retained reference to this
/// object from `open` to the close callback, which frees the handle's memory and then drops that
/// reference. So `raw` is valid exactly while `isOpen`; all use of it is guarded by that.
/// *Thread*: the loop's.
final class LoopHandle {
    /// Owned; given back in the close callback, no sooner (libuv's rule).
    let raw: UnsafeMutableRawPointer
    private(set) var isOpen = true
    /// Called with the event's number: readiness bits, or an error below zero. Never after `close`.
    private(set) var onEvent: ((Int32) -> Void)?
    /// Called once when the handle closes, while its memory is still valid.
    var onClose: (() -> Void)?

    private init(owning raw: UnsafeMutableRawPointer, onEvent: @escaping (Int32) -> Void) {
        self.raw = raw
        self.onEvent = onEvent
    }

    /// Allocates a handle of `type` and hands its memory to `initialise`, a `uv_…_init`, which
    /// leaves nothing registered when it fails.
    static func open(
        _ type: uv_handle_type, _ call: StaticString, onEvent: @escaping (Int32) -> Void,
        initialise: (UnsafeMutableRawPointer) -> Int32
    ) throws(EventLoopError) -> LoopHandle {
        let raw = UnsafeMutableRawPointer.allocate(
            byteCount: uv_handle_size(type), alignment: 16)
        let code = initialise(raw)
        guard code >= 0 else {
            raw.deallocate()
            throw EventLoopError(code: code, call: "\(call)")
        }
        let handle = LoopHandle(owning: raw, onEvent: onEvent)
        uv_handle_set_data(handle.uv, Unmanaged.passRetained(handle).toOpaque())
        return handle
    }

    /// The handle by its base type.
    var uv: UnsafeMutablePointer<uv_handle_t> { raw.assumingMemoryBound(to: uv_handle_t.self) }

    /// Ends the handle: no event follows, its memory goes in the next turn. Does nothing the
    /// second time.
    func close() {
        guard isOpen else { return }
        isOpen = false
        onClose?()
        uv_close(uv, onClosed)
        // Last, because a closure may hold the last reference to the loop: its end then runs here
        // and waits for this handle, whose memory is gone afterwards.
        onClose = nil
        onEvent = nil
    }

    /// The object behind a handle that libuv gives to a callback.
    static func of(_ uv: UnsafeMutableRawPointer) -> LoopHandle {
        // Not nil: `open` sets it before any callback can run, and the close callback is the last.
        let data = uv_handle_get_data(uv.assumingMemoryBound(to: uv_handle_t.self))!
        return Unmanaged<LoopHandle>.fromOpaque(data).takeUnretainedValue()
    }

    /// Passes an event on.
    static func deliver(_ uv: UnsafeMutableRawPointer, _ event: Int32) {
        of(uv).onEvent?(event)
    }
}

/// The only place where a handle's memory is freed and its object released.
private func onClosed(_ uv: UnsafeMutablePointer<uv_handle_t>?) {
    guard let uv, let data = uv_handle_get_data(uv) else { return }
    let handle = Unmanaged<LoopHandle>.fromOpaque(data).takeRetainedValue()
    handle.raw.deallocate()
}
