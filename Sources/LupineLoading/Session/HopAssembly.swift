// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Assembles the request of one hop from the program's request, the configuration's fields and the stored cookies (U-3.3,
/// U-13.12, U-17.3). A hop is one request of a task: the first one, or one after a redirect or a challenge.
///
/// `TaskDriver` later adds the answers to challenges, and the fields that validate a cached response.
struct HopAssembly: Sendable {
    /// The program's request, or the request of a redirect.
    let request: URLRequest
    /// The kind of the task.
    let kind: TaskDefinition.Kind
    /// The source of the task's body.
    let body: TaskDefinition.Body
    /// How far the task's redirects have led away from the origin of its first request. Fields that a redirect has removed for
    /// this reason are not added again (U-10.5).
    let move: RedirectMove
    let settings: SessionSettings
    /// The judge of the hop's server, which is the policy or delegate that decides whether the server is trusted. Cookies that
    /// were stored for another judge are not sent (U-13.17). Nil if no stored cookie belongs to a judge.
    var judge: TrustJudge?

    /// Returns the assembled request. Throws if the request cannot be sent, for example because a field is not valid.
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
            // Called for the error that it throws for an invalid method.
            if assembled.httpMethod != "GET" { _ = try assembled.checkedMethod() }
            // Most requests have only the session's fields, which the settings have checked.
            let hasOnlySessionFields = assembled.headerList.fields == settings.additionalHeaders.fields
            let isKnownToBeValid = hasOnlySessionFields && settings.additionalHeadersAreValid
            if !isKnownToBeValid { try assembled.checkFields() }
        } catch { throw .loading(.badURL, url: url, underlying: error) }
        if let cookieField = cookieField(for: assembled) {
            assembled.headerList.set("Cookie", cookieField)
        }
        return assembled
    }

    /// The request with the session's additional fields that it lacks, except those that redirects have removed.
    private var withAdditionalHeaders: URLRequest {
        let additional = settings.additionalHeaders.fields
        if additional.isEmpty { return request }
        guard move != .withinOrigin else { return settings.addingHeaders(to: request) }
        let missing = additional.filter { request.headerList[$0.name] == nil }
        // `RedirectRule.fields` returns those that may be sent after the redirects.
        var complete = request
        complete.headerList = HeaderList(
            request.headerList.fields + RedirectRule.fields(missing, after: move, settings.lupine))
        return complete
    }

    /// Returns the value of the field `Cookie`, with the stored cookies for the request. Returns nil if there are none; then a
    /// `Cookie` field that the program has set is sent unchanged.
    private func cookieField(for request: URLRequest) -> String? {
        guard settings.shouldSetCookies, request.httpShouldHandleCookies,
            let storage = settings.cookieStorage, !storage.isEmpty, let url = request.cookieURL
        else { return nil }
        // Only cookies from unchecked connections depend on the judge.
        let cookies = storage.cookies(
            for: url, mainDocumentURL: request.mainDocumentURL, method: request.httpMethod ?? "GET",
            of: storage.hasUncheckedCookies ? judge : nil, at: settings.clock.date())
        if cookies.isEmpty { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }

    // MARK: cookies of a response

    /// The maximum number of cookies that are stored from one response: as many as the storage accepts for one domain. If a
    /// response sets more, only the last ones are stored.
    private static let maximumStoredCookies = 180

    /// Stores the cookies that a response sets, one for each `Set-Cookie` line (U-13.1, U-13.13).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request as it was sent.
    ///   - settings: The settings of the session, which contain the cookie storage.
    ///   - judge: Returns the judge of the server if the judge has accepted the server without any check, and the default
    ///     evaluation rejects its certificate chain. Then the cookies are sent only if the same judge decides about the server
    ///     (U-13.17). Returns nil for all other connections.
    static func storeCookies(
        of response: HTTPURLResponse, to request: URLRequest, _ settings: SessionSettings,
        onlyFor judge: () -> TrustJudge? = { nil }
    ) {
        // If the program has set `Host` to another host than the URL's (`namedServer`), the cookies are for that host.
        guard request.httpShouldHandleCookies, settings.cookieAcceptPolicy != .never,
            let storage = settings.cookieStorage, let fields = response.fields, fields.contains(.setCookie),
            let url = request.namedServer == nil ? response.url : request.cookieURL,
            let origin = CookieOrigin(url)
        else { return }
        let now = settings.clock.date()
        // `suffix`, because a later line replaces an earlier one for the same cookie.
        let cookies = fields.values(of: .setCookie).suffix(maximumStoredCookies).compactMap { line in
            SetCookieSyntax.cookie(line, from: origin, now: now)
        }
        storage.store(
            cookies, from: url, mainDocumentURL: request.mainDocumentURL, policy: settings.cookieAcceptPolicy,
            onlyFor: judge(), at: now)
    }
}
