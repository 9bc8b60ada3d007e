/// When a campaign that can only do harm is stopped.
package struct StopWhen: Sendable, Equatable {
    /// A share of so many answers.
    package struct Share: Sendable, Equatable {
        /// 1 to 100.
        package let percent: Int
        package let answers: Int

        package init(percent: Int, answers: Int) {
            self.percent = percent
            self.answers = answers
        }
    }

    /// BadDeviceToken and DeviceTokenNotForTopic among the first answers; nil: switched off.
    package let badDeviceToken: Share?
    /// Failures among the last answers; nil: switched off.
    package let failures: Share?
    /// Seconds since 1970 UTC; nil: none.
    package let deadline: Int64?

    package init(badDeviceToken: Share?, failures: Share?, deadline: Int64?) {
        self.badDeviceToken = badDeviceToken
        self.failures = failures
        self.deadline = deadline
    }

    /// What holds where the manifest says nothing.
    package static let standard = StopWhen(
        badDeviceToken: Share(percent: 50, answers: 1000),
        failures: Share(percent: 80, answers: 1000), deadline: nil)

    /// Fewer answers say nothing about a campaign, whatever their share.
    package static let badDeviceTokenAnswersMin = 100
    /// The rows of the answers that a share is taken of are held until it is known.
    package static let answersMax = 1000
}
