/// Limits of the provider API. Apple, "Sending notification requests to APNs".
package enum APNSLimits {
    /// Bytes of a payload, for all push types but voip.
    package static let payloadBytesMax = 4096
    /// Bytes of a payload of type voip.
    package static let payloadBytesMaxVoIP = 5120
    /// Bytes (not characters) of `apns-collapse-id`.
    package static let collapseIDBytesMax = 64
    /// A provider token is answered with ExpiredProviderToken from this age on.
    package static let providerTokenAgeSecondsMax: Int64 = 3600
    /// A provider token may be changed at most once in this time.
    package static let providerTokenUpdateSecondsMin: Int64 = 1200
    /// A stored notification is kept this long at most.
    package static let storageSecondsMax: Int64 = 30 * 24 * 3600
    /// Characters of a key ID and of a team ID.
    package static let idCharacters = 10
    /// Bytes kept of a reason that the table does not know: well over the longest known (28), small
    /// enough for a line of a file.
    package static let reasonBytesMax = 256
}
