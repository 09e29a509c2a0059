// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// What a redirect makes of a request (spec of redirects, U-10.1 to U-10.8, U-10.10; RFC 9110 §15.4). Pure: whether it
/// is followed is asked elsewhere.
///
/// A request goes in as the program gave it, or as the answer to the last redirect left it: cookies, default fields and
/// remembered credentials are added for each hop anew and are no part of it (U-10.6).
enum RedirectRule {
    /// How many redirects one task follows.
    static let limit = 20

    /// What a response leads to.
    enum Verdict: Sendable {
        /// It leads nowhere: it is the answer.
        case none
        /// It leads there, if the program agrees.
        case proposal(Proposal)
        /// It leads nowhere that can be gone to.
        case failure(URLError.Code)
    }

    /// The next request, before the program has seen it.
    struct Proposal: Sendable {
        var request: URLRequest
        /// The user that the target named.
        var credential: URLCredential?
        /// Whether the body is sent again.
        var keepsBody: Bool
        /// Whether the target may not hear what was meant for the server that redirects.
        var leavesOrigin: Bool
    }

    /// - Parameters:
    ///   - response: A response of the hop.
    ///   - request: The request of the hop, as the program gave it.
    ///   - followed: How many redirects the task has followed.
    ///   - isWebSocket: Whether the task speaks the protocol of web sockets.
    static func verdict(
        on response: HTTPURLResponse, to request: URLRequest, followed: Int, isWebSocket: Bool = false
    ) -> Verdict {
        guard let rewrite = Rewrite(response.statusCode, method: request.httpMethod ?? "GET"),
            let location = location(of: response), let current = request.url
        else { return .none }
        guard followed < limit else { return .failure(.httpTooManyRedirects) }
        let base = response.url ?? current
        do throws(RedirectTarget.Failure) {
            let target = try RedirectTarget(
                location, from: inheriting(fragmentOf: current, base), isWebSocket: isWebSocket)
            return .proposal(proposal(request, to: target, rewrite))
        } catch {
            switch error {
            case .unreadable: return .failure(.redirectToNonExistentLocation)
            case .foreignScheme: return .failure(.unsupportedURL)
            }
        }
    }

    /// The first line counts: a second one would be a second opinion.
    private static func location(of response: HTTPURLResponse) -> String? {
        let value = response.fields?[.location] ?? response.value(forHTTPHeaderField: "Location")
        guard let value, value.contains(where: { $0 != " " && $0 != "\t" }) else { return nil }
        return value
    }

    /// The response's address with the fragment of the request's, which no server was told.
    private static func inheriting(fragmentOf current: URL, _ base: URL) -> URL {
        guard base.fragment(percentEncoded: true) == nil,
            let fragment = current.fragment(percentEncoded: true),
            let whole = URL(string: base.absoluteString + "#" + fragment)
        else { return base }
        return whole
    }

    /// What becomes of method and body, by status.
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

    /// Fields that describe the body: without it they say something untrue.
    private static let aboutBody = [
        "Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
        "Transfer-Encoding", "Expect",
    ]

    /// Fields that were meant for one server only.
    static let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"]

    private static func proposal(_ request: URLRequest, to target: RedirectTarget, _ rewrite: Rewrite)
        -> Proposal
    {
        var next = request
        next.url = target.url
        next.httpMethod = rewrite.method
        if !rewrite.keepsBody {
            next.httpBody = nil
            for name in aboutBody { next.setValue(nil, forHTTPHeaderField: name) }
        }
        let (from, to) = (WebOrigin(request.url), WebOrigin(target.url))
        let leavesOrigin = from == nil || from != to
        if leavesOrigin {
            for name in secrets { next.setValue(nil, forHTTPHeaderField: name) }
        }
        if from?.isSecure == true, to?.isSecure != true { next.setValue(nil, forHTTPHeaderField: "Referer") }
        return Proposal(
            request: next, credential: target.credential, keepsBody: rewrite.keepsBody,
            leavesOrigin: leavesOrigin)
    }
}
