internal import Synchronization

/// The registry as all workers share it: a frozen copy that is replaced as a whole.
///
/// *Thread:* any. Reading costs one atomic load as long as nothing has changed.
final class MockRegistry: Sendable {
    /// One state of the registry.
    final class Snapshot: Sendable {
        let registry: Registry

        init(_ registry: Registry) { self.registry = registry }
    }

    private let current: Mutex<Snapshot>
    private let version = Atomic<Int>(0)

    init(_ registry: Registry = Registry()) { current = Mutex(Snapshot(registry)) }

    /// The present state.
    var snapshot: Snapshot { current.withLock { $0 } }

    /// Changes the registry. A change that throws leaves it as it was.
    ///
    /// Every request that is judged after this returns sees the change.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout Registry) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try current.withLock { (snapshot) throws(Failure) -> Result in
            var registry = snapshot.registry
            let result = try body(&registry)
            snapshot = Snapshot(registry)
            version.add(1, ordering: .releasing)
            return result
        }
    }

    /// One reader's view, kept up to date. *Thread:* one.
    struct View {
        private let source: MockRegistry
        private var version = -1
        private(set) var snapshot: Snapshot

        init(_ source: MockRegistry) {
            self.source = source
            snapshot = source.snapshot
        }

        /// Takes in what has changed.
        mutating func refresh() {
            let latest = source.version.load(ordering: .acquiring)
            guard latest != version else { return }
            version = latest
            snapshot = source.snapshot
        }
    }
}
