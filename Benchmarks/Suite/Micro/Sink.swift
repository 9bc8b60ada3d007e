/// Where results go that nobody reads, so that the optimiser cannot leave out their making.
/// Proof for `nonisolated(unsafe)`: written once; what it points to belongs to the one thread of a
/// benchmark of this kind.
nonisolated(unsafe) private let sink: UnsafeMutablePointer<Int> = {
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    memory.initialize(to: 0)
    return memory
}()

@inline(never)
func keep(_ value: Int) { sink.pointee &+= value }
