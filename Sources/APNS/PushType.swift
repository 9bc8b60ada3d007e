/// A kind of push notification: the value of `apns-push-type`, and the rules that come with it.
///
/// Apple, "Sending notification requests to APNs".
package struct PushType: Sendable, Equatable {
    /// The value of the header, and of `pushType` in a campaign.
    package let name: String
    /// What follows the bundle id in `apns-topic`; empty for the bundle id alone. (For mdm the
    /// topic is the UID of the MDM certificate's subject, and no bundle id.)
    package let topicSuffix: String
    /// Bytes of the JSON payload, at most.
    package let payloadBytesMax: Int
    /// The values of `apns-priority` that fit this type, the most urgent first.
    package let allowedPriorities: [Int]

    private init(
        _ name: String, suffix: String = "", payloadBytesMax: Int = APNSLimits.payloadBytesMax,
        priorities: [Int] = [10, 5, 1]
    ) {
        self.name = name
        self.topicSuffix = suffix
        self.payloadBytesMax = payloadBytesMax
        self.allowedPriorities = priorities
    }

    /// Something to see or hear.
    package static let alert = PushType("alert")
    /// Always of priority 5; Apple calls 10 an error.
    package static let background = PushType("background", priorities: [5])
    /// An incoming call.
    package static let voip = PushType(
        "voip", suffix: ".voip", payloadBytesMax: APNSLimits.payloadBytesMaxVoIP)
    /// For a complication of a watch face.
    package static let complication = PushType("complication", suffix: ".complication")
    /// Changes in the files of a file provider.
    package static let fileprovider = PushType("fileprovider", suffix: ".pushkit.fileprovider")
    /// Tells a managed device to ask its server.
    package static let mdm = PushType("mdm")
    /// Starts, updates or ends a Live Activity.
    package static let liveactivity = PushType(
        "liveactivity", suffix: ".push-type.liveactivity", priorities: [10, 5])
    /// Somebody speaks in a channel.
    package static let pushtotalk = PushType("pushtotalk", suffix: ".voip-ptt", priorities: [10])
    /// Asks for the location; not with a client certificate.
    package static let location = PushType(
        "location", suffix: ".location-query", priorities: [10, 5])
    /// Reloads a control.
    package static let controls = PushType("controls", suffix: ".push-type.controls")
    /// Reloads widgets.
    package static let widgets = PushType("widgets", suffix: ".push-type.widgets")

    /// All push types of device pushes, the most common first.
    package static let all: [PushType] = [
        alert, background, liveactivity, voip, complication, fileprovider, mdm, pushtotalk,
        location, controls, widgets,
    ]

    /// The type with exactly this name; nil when there is none.
    package static func named(_ name: String) -> PushType? {
        all.first { $0.name == name }
    }
}
