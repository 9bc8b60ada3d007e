internal import Synchronization

/// The devices that have registered with the local APNs, and what waits for them.
///
/// To a device that is connected everything goes at once and in order. For one that is away the
/// latest notification is stored (Apple: one per app and device; a token stands for both), and
/// given to it when it returns, unless it has expired.
///
/// *Thread:* any; one lock, taken per accepted request only while a device is registered.
/// *Limits:* see `Limits`. Time is an argument everywhere: seconds since 1970.
final class DeviceRegistry: Sendable {
    struct Limits: Sendable {
        /// More phones than anybody starts on one machine.
        var devicesMax = 10_000
        /// For one connected device that takes nothing; of what comes after that, the latest stays.
        var waitingMax = 100
        /// For all devices together: what waits, and what was sent and not confirmed.
        var heldBytesMax = 64 << 20
    }

    /// What the gateway has to know of a token.
    enum Standing: Sendable, Equatable {
        /// No device of this registry has it.
        case unknown
        case registered
        /// It is registered for another topic than the request's.
        case otherTopic
        /// Its device has gone, at this time in milliseconds since 1970.
        case unregistered(sinceMs: Int64)
    }

    private struct Device {
        let topic: [UInt8]
        let name: String
        var link: DeviceLink?
        /// In order. While the device is away, at most one.
        var waiting: [DeviceNotification] = []
        var deliveredCount = 0
        var unregisteredAtMs: Int64?
    }

    private struct State {
        var devices: [DeviceTokenKey: Device] = [:]
        var heldBytes = 0
        /// Notifications that were replaced by newer ones, were too many, or expired.
        var droppedCount = 0
    }

    private let limits: Limits
    private let state = Mutex(State())
    /// Entries of `devices`, so that a request costs one load while there are none.
    private let count = Atomic(0)

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Whether any device was ever registered.
    var hasDevices: Bool { count.load(ordering: .acquiring) > 0 }
}

/// For the gateway.
extension DeviceRegistry {
    /// What is known of the token in a request's path. Allocates nothing.
    func standing(
        token: UnsafeRawBufferPointer, topic: UnsafeRawBufferPointer
    ) -> Standing {
        guard hasDevices, let token = DeviceTokenKey(hex: token) else { return .unknown }
        return state.withLock { state in
            guard let device = state.devices[token] else { return .unknown }
            if let sinceMs = device.unregisteredAtMs { return .unregistered(sinceMs: sinceMs) }
            return device.topic.elementsEqual(topic) ? .registered : .otherTopic
        }
    }

    /// The topic for which a token is registered; nil for one that no device has now.
    func topicOfRegisteredToken(_ token: UnsafeRawBufferPointer) -> String? {
        guard hasDevices, let token = DeviceTokenKey(hex: token) else { return nil }
        return state.withLock { state in
            guard let device = state.devices[token], device.unregisteredAtMs == nil else {
                return nil
            }
            return String(decoding: device.topic, as: UTF8.self)
        }
    }

    /// Routes a request that was accepted; nothing happens when its token is no device's.
    func route(
        _ request: GatewayRequest, messageID: UnsafeRawBufferPointer, nowSeconds: Int64
    ) {
        guard hasDevices, let hex = request.deviceToken, let token = DeviceTokenKey(hex: hex),
            let topic = state.withLock({ $0.devices[token]?.topic })
        else { return }
        // Made outside of the lock. The topic is the device's: the header may be absent where a
        // certificate names the only topic.
        let notification = DeviceNotification(
            request, topic: topic, messageID: messageID, nowSeconds: nowSeconds)
        route(notification, to: token, nowSeconds: nowSeconds)
    }

    /// Routes a notification to the device of `token`.
    func route(_ notification: DeviceNotification, to token: DeviceTokenKey, nowSeconds: Int64) {
        let link: DeviceLink? = state.withLock { state in
            guard var device = state.devices.removeValue(forKey: token) else { return nil }
            defer { state.devices[token] = device }
            guard device.unregisteredAtMs == nil,
                device.link != nil || notification.isStorable(nowSeconds: nowSeconds)
            else {
                state.droppedCount += 1
                return nil
            }
            add(notification, to: &device, &state)
            return device.link
        }
        link?.signal()
    }

    /// Puts a notification behind the others, in place of those that it replaces.
    private func add(
        _ notification: DeviceNotification, to device: inout Device, _ state: inout State
    ) {
        if device.link == nil {
            drop(&device, &state) { _ in true }
        } else if !notification.collapseID.isEmpty {
            drop(&device, &state) { $0.collapseID == notification.collapseID }
        }
        if device.waiting.count >= limits.waitingMax, let last = device.waiting.popLast() {
            state.heldBytes -= last.line.count
            state.droppedCount += 1
        }
        guard state.heldBytes + notification.line.count <= limits.heldBytesMax else {
            state.droppedCount += 1
            return
        }
        state.heldBytes += notification.line.count
        device.waiting.append(notification)
    }

    private func drop(
        _ device: inout Device, _ state: inout State, where isGone: (DeviceNotification) -> Bool
    ) {
        guard !device.waiting.isEmpty else { return }
        let bytes = Self.bytes(of: device.waiting)
        let count = device.waiting.count
        device.waiting.removeAll(where: isGone)
        state.heldBytes -= bytes - Self.bytes(of: device.waiting)
        state.droppedCount += count - device.waiting.count
    }

    private static func bytes(of notifications: some Collection<DeviceNotification>) -> Int {
        notifications.reduce(0) { $0 + $1.line.count }
    }
}

/// For the devices.
extension DeviceRegistry {
    enum Registration: Sendable, Equatable {
        case registered(DeviceTokenKey)
        /// The token that the device brought belongs to another app.
        case otherTopic
        case full
    }

    /// Registers a device, under the token that it brings from earlier or under a new one. A token
    /// that was unregistered does not come back (Apple: registering again gives another one).
    func register(topic: [UInt8], name: String, token: DeviceTokenKey?) -> Registration {
        state.withLock { state in
            if let token, let device = state.devices[token] {
                if device.topic != topic { return .otherTopic }
                if device.unregisteredAtMs == nil { return .registered(token) }
            }
            var new = DeviceTokenKey.random()
            if let token, state.devices[token] == nil { new = token }
            guard makeRoom(&state) else { return .full }
            state.devices[new] = Device(topic: topic, name: name)
            count.store(state.devices.count, ordering: .releasing)
            return .registered(new)
        }
    }

    /// When it is full, the token that was unregistered first is forgotten.
    private func makeRoom(_ state: inout State) -> Bool {
        guard state.devices.count >= limits.devicesMax else { return true }
        let gone = state.devices.compactMap { token, device in
            device.unregisteredAtMs.map { (token, sinceMs: $0) }
        }
        guard let (first, _) = gone.min(by: { $0.sinceMs < $1.sinceMs }) else { return false }
        state.devices[first] = nil
        return true
    }

    /// The device is gone for good: from now on its token is answered 410. Returns the time in
    /// milliseconds since when it is gone; nil when there is no such device.
    func unregister(_ token: DeviceTokenKey, nowMs: Int64) -> Int64? {
        let result: (sinceMs: Int64?, link: DeviceLink?) = state.withLock { state in
            guard var device = state.devices.removeValue(forKey: token) else { return (nil, nil) }
            defer { state.devices[token] = device }
            if let sinceMs = device.unregisteredAtMs { return (sinceMs, nil) }
            device.unregisteredAtMs = nowMs
            drop(&device, &state) { _ in true }
            defer { device.link = nil }
            return (nowMs, device.link)
        }
        result.link?.signal()
        return result.sinceMs
    }

    /// The device is here: what was stored for it and has not expired waits for `next`. An older
    /// connection of the same device ends. What is known of the token, when it cannot be.
    func connect(_ link: DeviceLink, nowSeconds: Int64) -> Standing {
        let result: (standing: Standing, former: DeviceLink?) = state.withLock { state in
            guard var device = state.devices.removeValue(forKey: link.token) else {
                return (.unknown, nil)
            }
            defer { state.devices[link.token] = device }
            if let sinceMs = device.unregisteredAtMs {
                return (.unregistered(sinceMs: sinceMs), nil)
            }
            let former = device.link
            if former == nil { drop(&device, &state) { !$0.isStorable(nowSeconds: nowSeconds) } }
            device.link = link
            return (.registered, former)
        }
        result.former?.signal()
        return result.standing
    }

    enum Next: Sendable, Equatable {
        case notification(DeviceNotification)
        case nothing
        /// This connection is no longer the device's.
        case end
    }

    /// Takes the next notification for a connection, which then confirms it or gives it back.
    func next(for link: DeviceLink) -> Next {
        state.withLock { state in
            guard state.devices[link.token]?.link === link else { return .end }
            guard let notification = state.devices[link.token]?.waiting.first else {
                return .nothing
            }
            state.devices[link.token]?.waiting.removeFirst()
            return .notification(notification)
        }
    }

    /// The device has confirmed notifications.
    func confirm(_ notifications: some Collection<DeviceNotification>, for link: DeviceLink) {
        state.withLock { state in
            state.heldBytes -= Self.bytes(of: notifications)
            state.devices[link.token]?.deliveredCount += notifications.count
        }
    }

    /// A connection has ended; `undelivered` was taken for it, in this order, and not confirmed. Of
    /// all that waits the latest that may be stored stays; where the device has come back already,
    /// all.
    func disconnect(_ link: DeviceLink, undelivered: [DeviceNotification], nowSeconds: Int64) {
        let present: DeviceLink? = state.withLock { state in
            guard var device = state.devices.removeValue(forKey: link.token) else {
                state.heldBytes -= Self.bytes(of: undelivered)
                return nil
            }
            defer { state.devices[link.token] = device }
            if device.unregisteredAtMs == nil {
                device.waiting.insert(contentsOf: undelivered, at: 0)
            } else {
                state.heldBytes -= Self.bytes(of: undelivered)
            }
            if device.link === link { device.link = nil }
            guard device.link == nil else { return device.link }
            drop(&device, &state) { !$0.isStorable(nowSeconds: nowSeconds) }
            var older = device.waiting.count - 1
            drop(&device, &state) { _ in
                older -= 1
                return older >= 0
            }
            return nil
        }
        present?.signal()
    }
}

/// For people and tests.
extension DeviceRegistry {
    struct Row: Sendable, Equatable {
        let token: String
        let topic: String
        let name: String
        let isConnected: Bool
        let waitingCount: Int
        let deliveredCount: Int
        let unregisteredAtMs: Int64?
    }

    /// All devices by name, and how many notifications were replaced, expired or too many.
    func list() -> (rows: [Row], droppedCount: Int) {
        let (devices, droppedCount) = state.withLock { ($0.devices, $0.droppedCount) }
        let rows = devices.map { token, device in
            Row(
                token: token.text, topic: String(decoding: device.topic, as: UTF8.self),
                name: device.name, isConnected: device.link != nil,
                waitingCount: device.waiting.count, deliveredCount: device.deliveredCount,
                unregisteredAtMs: device.unregisteredAtMs)
        }
        return (rows.sorted { ($0.name, $0.token) < ($1.name, $1.token) }, droppedCount)
    }

    /// Bytes that wait or are not confirmed, for all devices together.
    var heldBytes: Int { state.withLock { $0.heldBytes } }
}
