// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Redirects. `/redirect/{n}` and its variants lead to `/get` after `n` redirects. `/redirect-to` leads to the URL in the query's
/// or the form's `url`.
enum RedirectRoutes {
    private static let maximumRedirects = 1_000

    static func add(to router: inout Router) {
        router.any("/redirect/{n}") { request throws(Refusal) in
            let isAbsolute = request.arguments["absolute"]?.lowercased() == "true"
            let name = isAbsolute ? "absolute-redirect" : "relative-redirect"
            return try nextRedirect(request, name, isAbsolute: isAbsolute)
        }
        router.any("/relative-redirect/{n}") { request throws(Refusal) in
            try nextRedirect(request, "relative-redirect", isAbsolute: false)
        }
        router.any("/absolute-redirect/{n}") { request throws(Refusal) in
            try nextRedirect(request, "absolute-redirect", isAbsolute: true)
        }
        router.any("/redirect-to") { request throws(Refusal) in
            // A form may also contain the URL, as in a redirected POST.
            let isForm = request.mediaType == "application/x-www-form-urlencoded"
            let form = try FormPairs(form: isForm ? request.body : [])
            guard let url = request.arguments["url"] ?? form["url"] else { throw .badRequest("no url") }
            let requestedStatus =
                try request.number(argument: "status_code") ?? form["status_code"].flatMap { Int($0) }
            let status = requestedStatus.flatMap { (300..<400).contains($0) ? $0 : nil } ?? 302
            return try redirect(status, to: url)
        }
    }

    /// Returns the redirect to the next URL of a chain: `/get` after the last redirect, otherwise `/name/` and the number of
    /// redirects that remain.
    private static func nextRedirect(
        _ request: OriginRequest, _ name: String, isAbsolute: Bool
    ) throws(Refusal) -> OriginResponse {
        let remaining = try request.number(parameter: 0, atMost: maximumRedirects)
        guard remaining > 0 else { throw .badRequest("0 redirects lead nowhere") }
        let base = isAbsolute ? request.schemeAndAuthority : ""
        return try redirect(302, to: base + (remaining == 1 ? "/get" : "/\(name)/\(remaining - 1)"))
    }

    /// Returns a redirect with a short document.
    private static func redirect(_ status: Int, to location: String) throws(Refusal) -> OriginResponse {
        var response = try OriginResponse(
            status, "text/html; charset=utf-8", Array("<p>It is elsewhere.</p>\n".utf8))
        try response.add(.location, location)
        return response
    }
}
