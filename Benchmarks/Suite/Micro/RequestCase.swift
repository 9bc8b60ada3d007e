internal import HTTP2

/// A request and its answer in memory: headers and body serialised, the answer's frames read and
/// told to the delegate. No TLS, no socket. The bytes of the answers are canned.
///
/// A new session begins every 10,000 requests, as a new connection would.
struct RequestCase {
    let canned: CannedServer

    func microCase() -> MicroCase {
        let tokens = Tokens(count: CannedServer.requests)
        let body = [UInt8](repeating: 0x61, count: 227)
        let canned = canned
        return MicroCase(name: "request", operationsStep: CannedServer.requests) { operations in
            for _ in 0..<operations / CannedServer.requests {
                let driver = try SessionDriver()
                let session = driver.session
                try canned.opening.withUnsafeBytes { try session.receive($0) }
                for (batch, answers) in canned.answers.enumerated() {
                    let first = batch * CannedServer.batchRequests
                    try body.withUnsafeBytes { body in
                        for index in first..<first + CannedServer.batchRequests {
                            try driver.submit(UInt32(index), tokens[index], body) {
                                session.output.consume(session.output.count)
                            }
                        }
                    }
                    session.pump()
                    session.output.consume(session.output.count)
                    try answers.withUnsafeBytes { try session.receive($0) }
                }
                guard driver.answered == CannedServer.requests else {
                    throw Failure("\(driver.answered) of \(CannedServer.requests) were answered")
                }
            }
        }
    }
}
