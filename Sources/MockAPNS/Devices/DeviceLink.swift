internal import Synchronization

/// A device's open connection as other threads see it: a way to wake the worker that serves it.
///
/// *Thread:* any.
final class DeviceLink: Sendable {
    let token: DeviceTokenKey
    /// Nil for one that nobody serves, in tests.
    private let mailbox: MockMailbox?
    /// A message for this link lies in the mailbox: there is never more than one.
    private let isSignalled = Atomic(false)

    init(token: DeviceTokenKey, mailbox: MockMailbox?) {
        self.token = token
        self.mailbox = mailbox
    }

    /// Has the worker look for what there is to send to the device.
    func signal() {
        if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) {
            mailbox?.post(.deliver(self))
        }
    }

    /// The worker has the message, and looks now: what comes after this is a new one.
    func signalTaken() { isSignalled.store(false, ordering: .sequentiallyConsistent) }
}
