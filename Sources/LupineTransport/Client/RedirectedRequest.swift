// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// One request of a chain of redirects, and the request that its response leads to (RFC 9110 §15.4).
struct RedirectedRequest {
    let request: HTTPRequest
    /// The farthest move of the chain so far.
    let move: RedirectMove
    private let count: Int

    /// Creates the first request of a chain.
    init(_ request: HTTPRequest) {
        self.init(request, .withinOrigin, count: 0)
    }

    private init(_ request: HTTPRequest, _ move: RedirectMove, count: Int) {
        self.request = request
        self.move = move
        self.count = count
    }

    /// Returns the next request; nil when the response is not followed. A body that cannot be sent again also ends the chain.
    func next(
        after response: HTTPResponse, _ configuration: HTTPClient.Configuration
    ) throws(TransportError) -> RedirectedRequest? {
        guard let limit = configuration.redirectLimit, let location = response.fields[.location],
            let (method, keepsBody) = rewrite(after: response.status)
        else { return nil }
        guard count < limit else { throw .tooManyRedirects(limit: limit) }
        let url: TransportURL
        do throws(TransportURLError) {
            url = try request.url.resolving(location: location)
        } catch { throw .redirect(error) }
        // A peer on the network must not reach the sockets of this machine.
        guard url.scheme != .httpUnix || request.url.scheme == .httpUnix else {
            throw .redirect(.unsupportedScheme(TransportURL.Scheme.httpUnix.rawValue))
        }
        let move = RedirectMove(from: WebOrigin(request.url), to: WebOrigin(url))
        guard move != .intoTheClear || configuration.followsInsecureRedirects else {
            throw .insecureRedirect(host: url.host, port: url.port)
        }
        var following = request
        following.url = url
        following.method = method
        if !keepsBody {
            following.body = .none
        } else if case .stream = request.body {
            return nil
        }
        do throws(HTTPError) {
            following.fields = try fields(move, configuration.sensitiveFields, keepsBody: keepsBody)
        } catch { throw .http(host: url.host, port: url.port, error) }
        // The request's evaluator is meant for the server that the request names: other servers must also satisfy the client's
        // evaluator.
        if self.move == .withinOrigin, move != .withinOrigin {
            following.trust = request.trust.map { .composite([configuration.trust, $0]) }
        }
        return RedirectedRequest(following, max(self.move, move), count: count + 1)
    }

    private func fields(
        _ move: RedirectMove, _ sensitive: Set<String>, keepsBody: Bool
    ) throws(HTTPError) -> Fields {
        let sensitive = move == .withinOrigin ? [] : RedirectMove.names(sensitive)
        var following = Fields()
        for index in 0..<request.fields.count {
            let (name, value) = (request.fields.fieldName(at: index), request.fields.value(at: index))
            if !keepsBody, RedirectMove.contentFields.contains(name) { continue }
            switch move.fate(of: name, value, sensitive: sensitive) {
            case .kept: try following.append(name, value)
            case .removed: break
            case .rewritten(let other): try following.append(name, other)
            }
        }
        return following
    }

    /// Returns the method and whether the body is kept, by status; nil if the response is not a redirect to follow.
    private func rewrite(after status: Status) -> (method: Method, keepsBody: Bool)? {
        switch status.code {
        case 301 where request.method == .post, 302 where request.method == .post: (.get, false)
        case 303: (request.method == .head ? .head : .get, false)
        case 301, 302, 307, 308: (request.method, true)
        default: nil
        }
    }
}
