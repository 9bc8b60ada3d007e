internal import EventLoop
internal import Transport

/// A running worker, as the server sees it: its thread and the way to reach it.
///
/// *Thread:* any.
struct WorkerThread: Sendable {
    let mailbox: MockMailbox
    /// Where it listens; nil for the workers that do not.
    let address: SocketAddress?
    private let thread: PlatformThread

    /// What a worker listens on, and with whom it shares what it accepts.
    struct Listening: Sendable {
        let address: SocketAddress
        let others: [MockMailbox]
    }

    private typealias Started = Result<(MockMailbox, SocketAddress?), MockError>

    /// Starts the thread and waits until its worker is ready, or could not be made.
    static func start(
        shared: MockShared, index: Int, listening: Listening?
    ) throws(MockError) -> WorkerThread {
        let handover = Handover<Started>()
        let thread: PlatformThread
        do {
            thread = try PlatformThread.start(name: "mock-\(index)") {
                serve(shared, index, listening, handover)
            }
        } catch {
            throw MockError("cannot start a thread of the local APNs: \(error); use fewer threads")
        }
        switch handover.take() {
        case .success((let mailbox, let address)):
            return WorkerThread(mailbox: mailbox, address: address, thread: thread)
        case .failure(let error):
            thread.join()
            throw error
        }
    }

    /// Stops the worker and waits for the end of its thread.
    func stop() {
        mailbox.post(.stop)
        thread.join()
    }

    /// The whole life of a worker, on its thread.
    private static func serve(
        _ shared: MockShared, _ index: Int, _ listening: Listening?, _ handover: Handover<Started>
    ) {
        let worker: MockWorker
        do {
            worker = try MockWorker(shared: shared, index: index)
        } catch {
            let text = "cannot make an event loop for the local APNs: \(error); use fewer threads"
            handover.put(.failure(MockError(text)))
            return
        }
        var address: SocketAddress?
        if let listening {
            do {
                address = try worker.listen(on: listening.address, sharingWith: listening.others)
            } catch {
                worker.close()
                handover.put(.failure(MockError("\(error) (--listen HOST:PORT)")))
                return
            }
        }
        handover.put(.success((worker.mailbox, address)))
        worker.run()
    }
}
