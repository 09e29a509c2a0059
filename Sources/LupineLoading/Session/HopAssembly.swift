// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Assembles the request of one transaction from the program's request, the configuration's fields and the present cookies.
/// Answers to challenges and the conditional fields of the cache are added later (U-3.3, U-13.12, U-17.3).
struct HopAssembly: Sendable {
    /// The program's request, or the request of a redirect.
    let request: URLRequest
    let kind: TaskDefinition.Kind
    let body: TaskDefinition.Body
    /// The farthest that redirects have led: fields that were dropped on the way are not added again (U-10.5).
    let move: RedirectMove
    let settings: SessionSettings
    /// Who decides about the server of the transaction's connection; nil if no cookies are kept apart by that.
    var judge: TrustJudge?

    /// Returns the assembled request, or throws if it cannot be sent.
    func assembled() throws(URLError) -> URLRequest {
        guard let url = request.url else {
            throw .loading(.unsupportedURL, url: nil, reason: "the request has no URL")
        }
        let scheme = request.contents.value.scheme
        guard scheme != .none else {
            throw .loading(
                .unsupportedURL, url: url,
                reason:
                    "the URL \(url.withoutUserInfo.absoluteString) has no scheme: it is to begin with https:// or http://"
            )
        }
        if kind == .webSocket, scheme != .ws && scheme != .wss {
            throw .loading(
                .unsupportedURL, url: url, reason: "a web socket's URL begins with wss:// or ws://")
        }
        if kind == .webSocket, request.httpMethod != "GET" {
            throw .loading(.unsupportedURL, url: url, reason: "a web socket is opened with GET")
        }
        var assembled = withAdditionalHeaders
        do {
            if assembled.httpMethod != "GET" { _ = try assembled.checkedMethod() }
            // Most requests have only the session's own fields, which are checked once.
            let isKnown = assembled.headerList.fields == settings.additionalHeaders.fields
            if !isKnown || !settings.additionalHeadersAreValid { try assembled.checkFields() }
        } catch { throw .loading(.badURL, url: url, underlying: error) }
        if let cookies = cookies(for: assembled) {
            assembled.headerList.set("Cookie", cookies)
        }
        return assembled
    }

    private var withAdditionalHeaders: URLRequest {
        let added = settings.additionalHeaders.fields
        if added.isEmpty { return request }
        guard move != .withinOrigin else { return settings.addingHeaders(to: request) }
        let missing = added.filter { request.headerList[$0.name] == nil }
        var complete = request
        complete.headerList = HeaderList(
            request.headerList.fields + RedirectRule.fields(missing, after: move, settings.lupine))
        return complete
    }

    /// The value of `Cookie`; nil if the storage has no cookies to send, and a field of the caller's is sent as it is.
    private func cookies(for request: URLRequest) -> String? {
        guard settings.shouldSetCookies, request.httpShouldHandleCookies,
            let storage = settings.cookieStorage, !storage.isEmpty, let url = request.cookieURL
        else { return nil }
        let cookies = storage.cookies(
            for: url, mainDocumentURL: request.mainDocumentURL, method: request.httpMethod ?? "GET",
            of: storage.hasUncheckedCookies ? judge : nil, at: settings.clock.date())
        if cookies.isEmpty { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }

    // MARK: what a response sets

    /// The number of cookies of one response that are stored, the last ones: the limit for a domain.
    private static let mostCookies = 180

    /// Stores the cookies that a response sets, line by line (U-13.1, U-13.13).
    ///
    /// - Parameters:
    ///   - request: The request as it was sent.
    ///   - judge: Returns who has accepted the connection, if its peer has not passed a check (U-13.17).
    static func storeCookies(
        of response: HTTPURLResponse, to request: URLRequest, _ settings: SessionSettings,
        onlyFor judge: () -> TrustJudge? = { nil }
    ) {
        guard request.httpShouldHandleCookies, settings.cookieAcceptPolicy != .never,
            let storage = settings.cookieStorage, let fields = response.fields, fields.contains(.setCookie),
            let url = request.namedServer == nil ? response.url : request.cookieURL,
            let origin = CookieOrigin(url)
        else { return }
        let now = settings.clock.date()
        let cookies = fields.values(of: .setCookie).suffix(mostCookies).compactMap { line in
            SetCookieSyntax.cookie(line, from: origin, now: now)
        }
        storage.store(
            cookies, from: url, mainDocumentURL: request.mainDocumentURL, policy: settings.cookieAcceptPolicy,
            onlyFor: judge(), at: now)
    }
}
