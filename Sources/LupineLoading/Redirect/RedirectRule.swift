// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Makes the next request from a redirect (spec of redirects, U-10.1 to U-10.8, U-10.10; RFC 9110 §15.4). Pure: others decide
/// whether the redirect is followed.
///
/// The input is the request as the program gave it, or as the answer to the last redirect left it: cookies, default fields and
/// remembered credentials are added to each request anew and are not part of it (U-10.6). `RedirectMove` decides which fields may
/// follow the request to its target.
package enum RedirectRule {
    /// The most redirects that one task follows.
    static let limit = 20

    /// The result for a response.
    package enum Verdict: Sendable {
        /// Not a redirect: the response is final.
        case none
        /// A redirect, which the program may refuse.
        case proposal(Proposal)
        /// A redirect that cannot or must not be followed.
        case failure(URLError)
    }

    /// The next request, before the program has seen it.
    package struct Proposal: Sendable {
        /// The next request.
        package var request: URLRequest
        /// The user that the target names.
        package var credential: URLCredential?
        /// Whether the body is sent again.
        package var keepsBody: Bool
    }

    /// - Parameters:
    ///   - response: The response to `request`.
    ///   - request: The request as the program gave it.
    ///   - options: Define which fields stay within an origin, and whether a redirect from https to http is followed.
    ///   - followed: The number of redirects that the task has followed.
    ///   - isWebSocket: Whether the task is a WebSocket task.
    package static func verdict(
        on response: HTTPURLResponse, to request: URLRequest,
        _ options: @autoclosure () -> URLSessionConfiguration.LupineOptions, followed: Int,
        isWebSocket: Bool = false
    ) -> Verdict {
        guard let rewrite = Rewrite(response.statusCode, method: request.httpMethod ?? "GET"),
            let location = location(of: response), let current = request.url
        else { return .none }
        guard followed < limit else {
            return .failure(tooMany(from: current, to: location))
        }
        let base = response.url ?? current
        let options = options()
        do throws(RedirectTarget.Failure) {
            let target = try RedirectTarget(
                location, from: inheriting(fragmentOf: current, base), isWebSocket: isWebSocket)
            if let refusal = refusal(of: target.url, from: current, options) { return .failure(refusal) }
            return .proposal(proposal(request, to: target, rewrite, options))
        } catch {
            switch error {
            case .unreadable:
                return .failure(
                    .loading(
                        .redirectToNonExistentLocation, url: current,
                        reason: "\(move(from: current, to: location)), which is no address"))
            case .foreignScheme(let scheme):
                return .failure(
                    .loading(
                        .unsupportedURL, url: current,
                        reason:
                            "\(move(from: current, to: location)): the scheme \"\(scheme)\" is not followed"))
            }
        }
    }

    /// The error for exceeding `limit`.
    static func tooMany(from url: URL?, to location: String?) -> URLError {
        .loading(
            .httpTooManyRedirects, url: url,
            reason: "more than \(limit) redirects; the last one: \(move(from: url, to: location ?? "")); "
                + "see whether a cookie or a login is missing that would end them",
            underlying: TransportError.tooManyRedirects(limit: limit))
    }

    /// Longer URLs are shown as an excerpt.
    private static let longestShown = 500

    /// Both URLs of a redirect, without user info and without control characters that could act on a terminal.
    private static func move(from url: URL?, to location: String) -> String {
        let target = URL(string: location)?.withoutUserInfo.absoluteString ?? ""
        // The text comes from the server and may be anything.
        let isShown = (1...longestShown).contains(target.utf8.count)
        return "\(url?.withoutUserInfo.absoluteString ?? "") redirects to "
            + (isShown ? target : Excerpt(location).description)
    }

    /// The error when the configuration forbids a redirect; nil when it is allowed.
    static func refusal(
        of target: URL?, from url: URL?, _ options: URLSessionConfiguration.LupineOptions
    ) -> URLError? {
        guard !options.followsInsecureRedirects,
            RedirectMove(from: WebOrigin(url), to: WebOrigin(target)) == .intoTheClear
        else { return nil }
        let origin = WebOrigin(target)
        let cause = TransportError.insecureRedirect(
            host: origin?.host ?? "", port: UInt16(clamping: origin?.port ?? 0))
        return .loading(
            .appTransportSecurityRequiresSecureConnection, url: target,
            reason:
                "\(move(from: url, to: target?.absoluteString ?? "")): a redirect from https to http is not followed, "
                + "unless configuration.lupine.followsInsecureRedirects is set",
            underlying: cause)
    }

    /// Only the first line counts if a server sends conflicting ones.
    private static func location(of response: HTTPURLResponse) -> String? {
        let value = response.fields?[.location] ?? response.value(forHTTPHeaderField: "Location")
        guard let value, value.contains(where: { $0 != " " && $0 != "\t" }) else { return nil }
        return value
    }

    /// The response's URL with the fragment of the request's, which is not sent to servers.
    private static func inheriting(fragmentOf current: URL, _ base: URL) -> URL {
        guard base.fragment(percentEncoded: true) == nil,
            let fragment = current.fragment(percentEncoded: true),
            let whole = URL(string: base.absoluteString + "#" + fragment)
        else { return base }
        return whole
    }

    /// The effect of a status on method and body.
    private struct Rewrite {
        let method: String
        let keepsBody: Bool

        init?(_ status: Int, method: String) {
            switch status {
            case 301 where method == "POST", 302 where method == "POST", 303:
                self.method = "GET"
                keepsBody = false
            case 301, 302, 305, 306, 307, 308:
                self.method = method
                keepsBody = true
            default: return nil
            }
        }
    }

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

    /// Returns those of the fields that may be sent after a move.
    static func fields(
        _ fields: [HeaderList.Field], after move: RedirectMove,
        _ options: URLSessionConfiguration.LupineOptions
    ) -> [HeaderList.Field] {
        let sensitive = RedirectMove.names(options.sensitiveFields)
        return fields.compactMap { field in
            // An invalid name is kept, so that the send fails with an error that names it (U-1.4).
            guard let name = try? FieldName(field.name) else { return field }
            switch move.fate(of: name, field.value, sensitive: sensitive) {
            case .kept: return field
            case .removed: return nil
            case .rewritten(let value): return HeaderList.Field(name: field.name, value: value)
            }
        }
    }
}
