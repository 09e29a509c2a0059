// SPDX-License-Identifier: MIT

import LupineHTTP

/// One step of a chain of redirects: the request to send, and what a response to it leads to (RFC 9110 §15.4).
struct RedirectHop {
    let request: HTTPRequest
    private let count: Int

    /// The first request.
    init(_ request: HTTPRequest) {
        self.request = request
        count = 0
    }

    private init(_ request: HTTPRequest, count: Int) {
        self.request = request
        self.count = count
    }

    /// Where the response leads; nil when it is the answer. A body that cannot be sent again ends the chain too.
    func next(after response: HTTPResponse, limit: Int) throws(TransportError) -> RedirectHop? {
        guard let location = response.fields[.location], let method = method(after: response.status) else {
            return nil
        }
        guard count < limit else { throw .tooManyRedirects(limit: limit) }
        let url: TransportURL
        do throws(TransportURLError) {
            url = try request.url.resolving(location: location)
        } catch { throw .redirect(error) }
        // A peer on the network has no business with the sockets of this machine.
        guard url.scheme != .httpUnix || request.url.scheme == .httpUnix else {
            throw .redirect(.unsupportedScheme(TransportURL.Scheme.httpUnix.rawValue))
        }
        var following = request
        following.url = url
        following.method = method
        following.fields.remove(.host)
        if method != request.method {
            following.body = .none
            for name in [FieldName.contentType, .contentEncoding] { following.fields.remove(name) }
        } else if case .stream = request.body {
            return nil
        }
        // What was meant for one origin is nothing for another one's ears.
        if (url.scheme, url.host, url.port, url.unixPath)
            != (request.url.scheme, request.url.host, request.url.port, request.url.unixPath)
        {
            for name in [FieldName.authorization, .cookie, .proxyAuthorization] {
                following.fields.remove(name)
            }
        }
        return RedirectHop(following, count: count + 1)
    }

    private func method(after status: Status) -> Method? {
        switch status.code {
        case 301, 302: request.method == .post ? .get : request.method
        case 303: request.method == .head ? .head : .get
        case 307, 308: request.method
        default: nil
        }
    }
}
