// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Assembles the request of one hop from the program's request, the configuration's fields and the stored cookies.
/// `TaskDriver` adds answers to challenges and the conditional fields of the cache later (U-3.3, U-13.12, U-17.3).
struct HopAssembly: Sendable {
    /// The program's request, or the request of a redirect.
    let request: URLRequest
    let kind: TaskDefinition.Kind
    let body: TaskDefinition.Body
    /// The farthest move of the redirects so far: fields that it removes are not added again (U-10.5).
    let move: RedirectMove
    let settings: SessionSettings
    /// The judge of the hop's server: cookies that were stored for another judge are not sent (U-13.17). Nil if no
    /// cookies are kept apart by judge.
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
        if let cookieField = cookieField(for: assembled) {
            assembled.headerList.set("Cookie", cookieField)
        }
        return assembled
    }

    /// The request with the session's additional fields that it lacks, except those that redirects have removed.
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

    /// Returns the value of `Cookie` from the storage; nil if it has no cookies for the request, whose own `Cookie` field is then
    /// sent as it is.
    private func cookieField(for request: URLRequest) -> String? {
        guard settings.shouldSetCookies, request.httpShouldHandleCookies,
            let storage = settings.cookieStorage, !storage.isEmpty, let url = request.cookieURL
        else { return nil }
        let cookies = storage.cookies(
            for: url, mainDocumentURL: request.mainDocumentURL, method: request.httpMethod ?? "GET",
            of: storage.hasUncheckedCookies ? judge : nil, at: settings.clock.date())
        if cookies.isEmpty { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }

    // MARK: cookies of a response

    /// The most cookies of one response that are stored: as many as the storage keeps for a domain. If a response sets more, the
    /// last ones are stored.
    private static let maximumStoredCookies = 180

    /// Stores the cookies that a response sets, one for each `Set-Cookie` line (U-13.1, U-13.13).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request as it was sent.
    ///   - settings: The settings of the session, with the storage.
    ///   - judge: Returns the judge of the server if nobody has checked the connection and the default evaluation refuses its
    ///     chain: the cookies are then sent only where the same judge decides (U-13.17). Returns nil for other connections.
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
        let cookies = fields.values(of: .setCookie).suffix(maximumStoredCookies).compactMap { line in
            SetCookieSyntax.cookie(line, from: origin, now: now)
        }
        storage.store(
            cookies, from: url, mainDocumentURL: request.mainDocumentURL, policy: settings.cookieAcceptPolicy,
            onlyFor: judge(), at: now)
    }
}
