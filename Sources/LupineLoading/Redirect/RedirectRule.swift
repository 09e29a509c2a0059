// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Makes the next request from a redirect (U-10.1 to U-10.8, U-10.10; RFC 9110 §15.4). Has no state: the task's driver and the
/// program decide whether the redirect is followed.
///
/// The input is the program's request or, after a redirect, the request that the program has approved. It lacks cookies, default
/// fields and remembered credentials, which the driver adds to each request anew (U-10.6). `RedirectMove` decides which of its
/// fields are sent to the target.
package enum RedirectRule {
    /// The most redirects that one task follows.
    static let limit = 20

    /// Whether a response is a redirect, and with which next request.
    package enum Verdict: Sendable {
        /// The response is not a redirect, but final.
        case none
        /// A redirect with this next request, which the program may refuse.
        case proposal(Proposal)
        /// A redirect that cannot or must not be followed.
        case failure(URLError)
    }

    /// The next request, which the program may still change or refuse.
    package struct Proposal: Sendable {
        /// The next request.
        package var request: URLRequest
        /// The user and password in the target's URL; nil for none.
        package var credential: URLCredential?
        /// Whether the body is sent again.
        package var keepsBody: Bool
    }

    /// Returns the next request if a response is a redirect.
    ///
    /// - Parameters:
    ///   - response: The response to `request`.
    ///   - request: The request without the fields that the driver adds to each request.
    ///   - options: The options that define which fields are not sent to another origin, and whether a redirect from https to
    ///     http is followed. Evaluated only if the response is a redirect.
    ///   - redirectCount: The number of redirects that the task has followed already.
    ///   - isWebSocket: Whether the task is a WebSocket task.
    package static func verdict(
        on response: HTTPURLResponse, to request: URLRequest,
        _ options: @autoclosure () -> URLSessionConfiguration.LupineOptions, redirectCount: Int,
        isWebSocket: Bool = false
    ) -> Verdict {
        guard let rewrite = Rewrite(response.statusCode, method: request.httpMethod ?? "GET"),
            let location = location(of: response), let current = request.url
        else { return .none }
        guard redirectCount < limit else {
            return .failure(tooManyRedirects(from: current, to: location))
        }
        let base = response.url ?? current
        let options = options()
        do throws(RedirectTarget.Failure) {
            let target = try RedirectTarget(
                location, from: url(base, inheritingFragmentOf: current), isWebSocket: isWebSocket)
            if let refusal = refusal(of: target.url, from: current, options) { return .failure(refusal) }
            return .proposal(proposal(request, to: target, rewrite, options))
        } catch {
            switch error {
            case .unreadable:
                return .failure(
                    .loading(
                        .redirectToNonExistentLocation, url: current,
                        reason: "\(describeRedirect(from: current, to: location)), which is no address"))
            case .unsupportedScheme(let scheme):
                return .failure(
                    .loading(
                        .unsupportedURL, url: current,
                        reason: "\(describeRedirect(from: current, to: location)): "
                            + "the scheme \"\(scheme)\" is not followed"))
            }
        }
    }

    /// Returns the error of a task that exceeds `limit`.
    ///
    /// - Parameters:
    ///   - url: The URL of the last redirect's response.
    ///   - location: The target of the last redirect.
    static func tooManyRedirects(from url: URL?, to location: String?) -> URLError {
        .loading(
            .httpTooManyRedirects, url: url,
            reason: "more than \(limit) redirects; the last one: "
                + "\(describeRedirect(from: url, to: location ?? "")); "
                + "see whether a cookie or a login is missing that would end them",
            underlying: TransportError.tooManyRedirects(limit: limit))
    }

    /// The most octets of a URL that the text of an error contains; for a longer URL the text contains an excerpt.
    private static let maxShownLength = 500

    /// Returns a text with both URLs of a redirect, without user info and without control characters, which a terminal would
    /// obey.
    private static func describeRedirect(from url: URL?, to location: String) -> String {
        let target = URL(string: location)?.withoutUserInfo.absoluteString ?? ""
        // The location comes from the server: it may be no URL, or a very long URL. `Excerpt` also escapes control
        // characters.
        let isShownWhole = (1...maxShownLength).contains(target.utf8.count)
        return "\(url?.withoutUserInfo.absoluteString ?? "") redirects to "
            + (isShownWhole ? target : Excerpt(location).description)
    }

    /// Returns the error for a redirect from https to http, if the configuration forbids such redirects; nil if the redirect is
    /// allowed.
    static func refusal(
        of target: URL?, from url: URL?, _ options: URLSessionConfiguration.LupineOptions
    ) -> URLError? {
        guard !options.followsInsecureRedirects,
            RedirectMove(from: WebOrigin(url), to: WebOrigin(target)) == .toInsecureOrigin
        else { return nil }
        let origin = WebOrigin(target)
        let cause = TransportError.insecureRedirect(
            host: origin?.host ?? "", port: UInt16(clamping: origin?.port ?? 0))
        return .loading(
            .appTransportSecurityRequiresSecureConnection, url: target,
            reason:
                "\(describeRedirect(from: url, to: target?.absoluteString ?? "")): "
                + "a redirect from https to http is not followed, "
                + "unless configuration.lupine.followsInsecureRedirects is set",
            underlying: cause)
    }

    /// Returns the value of the response's first `Location` field; nil if there is none, or if the value is blank.
    private static func location(of response: HTTPURLResponse) -> String? {
        let value = response.fields?[.location] ?? response.value(forHTTPHeaderField: "Location")
        guard let value, value.contains(where: { $0 != " " && $0 != "\t" }) else { return nil }
        return value
    }

    /// Returns the response's URL. If it has no fragment, adds the fragment of the request's URL, which no response repeats: it
    /// is not sent to servers.
    private static func url(_ base: URL, inheritingFragmentOf current: URL) -> URL {
        guard base.fragment(percentEncoded: true) == nil,
            let fragment = current.fragment(percentEncoded: true),
            let urlWithFragment = URL(string: base.absoluteString + "#" + fragment)
        else { return base }
        return urlWithFragment
    }

    /// The effect of a redirect's status on method and body (RFC 9110 §15.4), as in Apple's `URLSession`. `RedirectedRequest`
    /// of the transport has the table of `HTTPClient`, which differs for HEAD after 303, and does not follow 305 and 306.
    private struct Rewrite {
        /// The method of the next request.
        let method: String
        /// Whether the next request has the body of the last one.
        let keepsBody: Bool

        /// Fails for a status that is not a redirect.
        init?(_ status: Int, method: String) {
            switch status {
            case 301 where method == "POST", 302 where method == "POST", 303:
                self.method = "GET"
                keepsBody = false
            // 305 and 306 are obsolete, and treated like 307.
            case 301, 302, 305, 306, 307, 308:
                self.method = method
                keepsBody = true
            default: return nil
            }
        }
    }

    /// Returns the next request, with the method, body and fields that may be sent to the target.
    private static func proposal(
        _ request: URLRequest, to target: RedirectTarget, _ rewrite: Rewrite,
        _ options: URLSessionConfiguration.LupineOptions
    ) -> Proposal {
        var next = request
        next.url = target.url
        next.httpMethod = rewrite.method
        if !rewrite.keepsBody {
            next.httpBody = nil
            for name in RedirectMove.contentFields {
                next.setValue(nil, forHTTPHeaderField: name.description)
            }
        }
        let move = RedirectMove(from: WebOrigin(request.url), to: WebOrigin(target.url))
        if move != .withinOrigin {
            next.headerList = HeaderList(fields(next.headerList.fields, after: move, options))
        }
        return Proposal(request: next, credential: target.credential, keepsBody: rewrite.keepsBody)
    }

    /// Returns the fields that may be sent to the target of a redirect; the values of `Referer` and `Origin` may be others.
    static func fields(
        _ fields: [HeaderList.Field], after move: RedirectMove,
        _ options: URLSessionConfiguration.LupineOptions
    ) -> [HeaderList.Field] {
        let sensitive = RedirectMove.names(options.sensitiveFields)
        return fields.compactMap { field in
            // Keeps a field with an invalid name, so that sending the request fails with an error that shows the name (U-1.4).
            guard let name = try? FieldName(field.name) else { return field }
            switch move.treatment(of: name, field.value, sensitive: sensitive) {
            case .kept: return field
            case .removed: return nil
            case .rewritten(let value): return HeaderList.Field(name: field.name, value: value)
            }
        }
    }
}

/// The redirects that a load has followed, as far as its next requests depend on them.
struct FollowedRedirects: Sendable {
    /// The greatest change of origin among the redirects.
    private(set) var farthestMove = RedirectMove.withinOrigin
    /// The number of redirects.
    private(set) var count = 0
    /// The user and password in the URL of the last redirect; nil for none.
    private var credential: URLCredential?

    /// Adds a redirect that is followed.
    mutating func add(_ redirect: ApprovedRedirect) {
        farthestMove = max(farthestMove, redirect.move)
        credential = redirect.credential
        count += 1
    }

    /// Returns the request's URL with the user and password that the URL of the last redirect contained; nil if the request has
    /// no URL.
    func url(of request: URLRequest) -> URL? {
        guard let url = request.url, let credential,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return request.url }
        (components.user, components.password) = (credential.user, credential.password)
        return components.url ?? url
    }
}
