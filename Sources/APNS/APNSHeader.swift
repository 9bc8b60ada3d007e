/// Header names of the provider API, lower case as HTTP/2 wants them. Apple, "Sending notification
/// requests to APNs".
package enum APNSHeader {
    /// `bearer` and the provider token; not sent with a client certificate.
    package static let authorization: StaticString = "authorization"
    /// A `PushType.name`.
    package static let pushType: StaticString = "apns-push-type"
    /// The bundle id and the push type's suffix.
    package static let topic: StaticString = "apns-topic"
    /// An `APNSID`; in every answer too, where APNs makes one if the request had none.
    package static let id: StaticString = "apns-id"
    /// An `ExpirationHeader`; left out for APNs' own policy.
    package static let expiration: StaticString = "apns-expiration"
    /// 10, 5 or 1; left out it is 10.
    package static let priority: StaticString = "apns-priority"
    /// At most `APNSLimits.collapseIDBytesMax` bytes.
    package static let collapseID: StaticString = "apns-collapse-id"
    /// In answers of the sandbox alone: the id for Apple's delivery log.
    package static let uniqueID: StaticString = "apns-unique-id"
}
