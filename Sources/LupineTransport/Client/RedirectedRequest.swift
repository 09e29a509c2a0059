// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// One request of a chain of redirects; `next(after:_:)` returns the one that follows (RFC 9110 §15.4).
struct RedirectedRequest {
    let request: HTTPRequest
    /// How far the redirects before this request have led away from the first origin.
    let farthestMove: RedirectMove
    /// The number of redirects before this request.
    private let count: Int

    /// Creates the first request of a chain.
    init(_ request: HTTPRequest) {
        self.init(request, .withinOrigin, count: 0)
    }

    private init(_ request: HTTPRequest, _ move: RedirectMove, count: Int) {
        self.request = request
        farthestMove = move
        self.count = count
    }

    /// Returns the request that the response leads to. Returns nil if the response is not a redirect, if redirects are not
    /// followed, or if the body cannot be sent again.
    ///
    /// Throws if the limit of redirects is exceeded, if the target cannot be requested, or if the redirect leads from https to
    /// http and the configuration forbids that.
    func next(
        after response: HTTPResponse, _ configuration: HTTPClient.Configuration
    ) throws(TransportError) -> RedirectedRequest? {
        guard let limit = configuration.redirectLimit, let location = response.fields[.location],
            let (method, keepsBody) = methodAndBody(after: response.status)
        else { return nil }
        guard count < limit else { throw .tooManyRedirects(limit: limit) }
        let url: TransportURL
        do throws(TransportURLError) {
            url = try request.url.resolving(location: location)
        } catch { throw .redirect(error) }
        // A server on the network must not redirect requests to the Unix-domain sockets of this machine.
        guard url.scheme != .httpUnix || request.url.scheme == .httpUnix else {
            throw .redirect(.unsupportedScheme(TransportURL.Scheme.httpUnix.rawValue))
        }
        let move = RedirectMove(from: WebOrigin(request.url), to: WebOrigin(url))
        guard move != .toInsecureOrigin || configuration.followsInsecureRedirects else {
            throw .insecureRedirect(host: url.host, port: url.port)
        }
        var nextRequest = request
        nextRequest.url = url
        nextRequest.method = method
        if !keepsBody {
            nextRequest.body = .none
        } else if case .stream = request.body {
            // The closure has supplied its content and cannot supply it again: the caller gets the redirect as the response.
            return nil
        }
        do throws(HTTPError) {
            nextRequest.fields = try fields(move, configuration.sensitiveFields, keepsBody: keepsBody)
        } catch { throw .http(host: url.host, port: url.port, error) }
        // The request's evaluator is meant for the server that the request names: other servers must also satisfy the client's
        // evaluator.
        if farthestMove == .withinOrigin, move != .withinOrigin {
            nextRequest.trust = request.trust.map { .composite([configuration.trust, $0]) }
        }
        return RedirectedRequest(nextRequest, max(farthestMove, move), count: count + 1)
    }

    /// Returns the fields of the next request, filtered by where the redirect leads.
    private func fields(
        _ move: RedirectMove, _ sensitive: Set<String>, keepsBody: Bool
    ) throws(HTTPError) -> Fields {
        // Within the origin, every field is kept.
        let sensitiveNames = move == .withinOrigin ? [] : RedirectMove.names(sensitive)
        var nextFields = Fields()
        for index in 0..<request.fields.count {
            let (name, value) = (request.fields.fieldName(at: index), request.fields.value(at: index))
            if !keepsBody, RedirectMove.contentFields.contains(name) { continue }
            switch move.treatment(of: name, value, sensitive: sensitiveNames) {
            case .kept: try nextFields.append(name, value)
            case .removed: break
            case .rewritten(let newValue): try nextFields.append(name, newValue)
            }
        }
        return nextFields
    }

    /// Returns the method of the next request and whether it keeps the body; nil if the status is not a redirect to follow.
    ///
    /// Follows RFC 9110. `RedirectRule` of the loading system has a table of its own, because `URLSession` follows Apple's: a 303
    /// turns HEAD into GET, too, and 305 and 306 are redirects.
    private func methodAndBody(after status: Status) -> (method: Method, keepsBody: Bool)? {
        switch status.code {
        case 301 where request.method == .post, 302 where request.method == .post: (.get, false)
        case 303: (request.method == .head ? .head : .get, false)
        case 301, 302, 307, 308: (request.method, true)
        default: nil
        }
    }
}
