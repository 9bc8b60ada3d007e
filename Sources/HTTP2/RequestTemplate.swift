/// What all requests of a client session have in common; a request adds the end of its path, the
/// values of the named headers and a body. Every request is a POST.
package struct RequestTemplate: Sendable {
    /// The `:scheme`, as "https".
    package var scheme: String
    /// The `:authority`, as "api.push.apple.com:2197".
    package var authority: String
    /// What stands before a request's own end of the path, as "/3/device/".
    package var pathPrefix: String
    /// Headers that are the same in every request, in this order; names in any case.
    package var headers: [(String, String)]
    /// Names of the headers whose values each request gives; a request may leave any of them out.
    package var perRequestHeaders: [String]
    /// The value of `authorization`, kept out of every header table; nil: the header is not sent.
    package var authorization: String?

    package init(
        scheme: String = "https", authority: String, pathPrefix: String,
        headers: [(String, String)] = [], perRequestHeaders: [String] = [],
        authorization: String? = nil
    ) {
        self.scheme = scheme
        self.authority = authority
        self.pathPrefix = pathPrefix
        self.headers = headers
        self.perRequestHeaders = perRequestHeaders
        self.authorization = authorization
    }
}
