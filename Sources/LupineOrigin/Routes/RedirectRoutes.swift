// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Redirects: `/redirect/{n}` and its variants end at `/get` after `n` redirects, `/redirect-to` at the given URL.
enum RedirectRoutes {
    private static let longest = 1_000

    static func add(to router: inout Router) {
        router.any("/redirect/{n}") { request throws(Refusal) in
            let isAbsolute = request.arguments["absolute"]?.lowercased() == "true"
            return try step(request, isAbsolute ? "absolute-redirect" : "relative-redirect", isAbsolute)
        }
        router.any("/relative-redirect/{n}") { request throws(Refusal) in
            try step(request, "relative-redirect", false)
        }
        router.any("/absolute-redirect/{n}") { request throws(Refusal) in
            try step(request, "absolute-redirect", true)
        }
        router.any("/redirect-to") { request throws(Refusal) in
            // A form may also contain the URL, as in a redirected POST.
            let isForm = request.mediaType == "application/x-www-form-urlencoded"
            let form = try FormPairs(form: isForm ? request.body : [])
            guard let url = request.arguments["url"] ?? form["url"] else { throw .badRequest("no url") }
            let given = try request.number(argument: "status_code") ?? form["status_code"].flatMap { Int($0) }
            let status = given.flatMap { (300..<400).contains($0) ? $0 : nil } ?? 302
            return try redirect(status, to: url)
        }
    }

    private static func step(
        _ request: OriginRequest, _ name: String, _ isAbsolute: Bool
    ) throws(Refusal) -> OriginResponse {
        let left = try request.number(0, atMost: longest)
        guard left > 0 else { throw .badRequest("0 redirects lead nowhere") }
        let base = isAbsolute ? request.base : ""
        return try redirect(302, to: base + (left == 1 ? "/get" : "/\(name)/\(left - 1)"))
    }

    private static func redirect(_ status: Int, to location: String) throws(Refusal) -> OriginResponse {
        var response = try OriginResponse(
            status, "text/html; charset=utf-8", Array("<p>It is elsewhere.</p>\n".utf8))
        try response.add(.location, location)
        return response
    }
}
