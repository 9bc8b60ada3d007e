internal import APNS
internal import Campaign
internal import Crypto
internal import EventLoop
internal import Glibc
internal import HTTP2
internal import Transport

/// The request template of the campaign, and the provider token that it carries now.
struct RequestHeaders {
    /// The headers whose value each row gives, in the order of the values.
    static let perRequest = ["apns-id", "apns-collapse-id"]

    private(set) var template: RequestTemplate
    private(set) var tokenVersion = -1
    private let tokens: ProviderTokenSource?

    init(state: RunState) throws(SendError) {
        let campaign = state.campaign
        var headers = [("apns-topic", campaign.topic), ("apns-push-type", campaign.pushType.name)]
        if let priority = campaign.priority { headers.append(("apns-priority", String(priority))) }
        switch campaign.expiration {
        case nil: break
        case .zero: headers.append(("apns-expiration", "0"))
        case .at(let seconds):
            headers.append(("apns-expiration", ExpirationHeader.value(unixSeconds: seconds)))
        case .after(let seconds):
            let end = state.startedAt.seconds + Int64(seconds)
            headers.append(("apns-expiration", ExpirationHeader.value(unixSeconds: end)))
        }
        tokens = state.tokens
        template = RequestTemplate(
            scheme: "https", authority: state.endpoint.authority, pathPrefix: APNSHost.pathPrefix,
            headers: headers, perRequestHeaders: Self.perRequest, authorization: nil)
        _ = try renewToken(monotonicNs: monotonicNowNs())
    }

    /// Takes the current provider token into the template.
    ///
    /// - Returns: the new value of `authorization` when it has changed.
    mutating func renewToken(monotonicNs: UInt64) throws(SendError) -> String? {
        guard let tokens else { return nil }
        do throws(CryptoError) {
            let (token, version) = try tokens.current(
                wallSeconds: Timestamp.now().seconds, monotonicNs: monotonicNs)
            guard version != tokenVersion else { return nil }
            tokenVersion = version
            let value = "bearer \(token.text)"
            template.authorization = value
            return value
        } catch {
            throw SendError(.stopped, "cannot sign a provider token: \(error)")
        }
    }
}

extension RequestHeaders {
    /// What ExpiredProviderToken says: a token that was too old is renewed; one that was made a
    /// moment ago can only look old to a server with another clock.
    ///
    /// - Throws: kind `.stopped`, with the clock named.
    func tokenExpired(version: Int, at server: Endpoint) throws(SendError) {
        let now = Timestamp.now()
        do {
            let renewal = try tokens?.expired(
                version: version, wallSeconds: now.seconds, monotonicNs: monotonicNowNs())
            guard case .tooYoung(let ageSeconds) = renewal else { return }
            throw SendError(
                .stopped,
                """
                \(server) calls a provider token that is \(ageSeconds) s old expired: this machine's \
                clock says \(now.rfc3339); set it right, then send again
                """)
        } catch let error as SendError {
            throw error
        } catch {
            throw SendError(.stopped, "cannot sign a provider token: \(error)")
        }
    }

    /// What TooManyProviderTokenUpdates says: no new token for a while.
    func tokenUpdatesRefused(version: Int) {
        tokens?.updatesRefused(
            version: version, wallSeconds: Timestamp.now().seconds, monotonicNs: monotonicNowNs())
    }
}
