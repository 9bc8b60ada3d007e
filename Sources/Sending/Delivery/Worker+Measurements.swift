internal import Transport

/// What a worker counts of its connections while they are open.
extension Worker {
    /// Counts what has been written since the last time, so that a kill does not take it along.
    func countBytesSent() {
        for connection in pool { countBytesSent(of: connection) }
    }

    func countBytesSent(of connection: PooledConnection) {
        let bytes = connection.connection?.bytesSent ?? 0
        counters.add(bytes - connection.countedBytes, to: .bytesSent)
        connection.countedBytes = bytes
    }
}
