// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Lists, sets and deletes cookies (RFC 6265): `/cookies`, `/cookies/set`, `/cookies/delete`.
enum CookieRoutes {
    static func add(to router: inout Router) {
        router.get("/cookies") { request throws(Refusal) in
            try OriginResponse(json: .object([("cookies", try cookies(request).json)]))
        }
        router.get("/cookies/set") { request throws(Refusal) in
            try redirect(setting: request.arguments.pairs.map { "\($0.name)=\($0.value); Path=/" })
        }
        router.get("/cookies/set/{name}/{value}") { request throws(Refusal) in
            try redirect(setting: ["\(request.parameters[0])=\(request.parameters[1]); Path=/"])
        }
        router.get("/cookies/delete") { request throws(Refusal) in
            try redirect(
                setting: request.arguments.pairs.map {
                    "\($0.name)=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/"
                })
        }
    }

    /// Returns a redirect to `/cookies` with these values of `Set-Cookie`.
    private static func redirect(setting cookies: [String]) throws(Refusal) -> OriginResponse {
        var response = OriginResponse(302)
        try response.add(.location, "/cookies")
        for cookie in cookies { try response.add(.setCookie, cookie) }
        return response
    }

    /// Returns the cookies of the request (RFC 6265 section 4.2.1).
    private static func cookies(_ request: OriginRequest) throws(Refusal) -> FormPairs {
        var pairs = FormPairs()
        for line in request.head.fields.values(of: .cookie) {
            for cookie in line.split(separator: ";") {
                let trimmed = cookie.drop { $0 == " " }
                let equals = trimmed.firstIndex(of: "=") ?? trimmed.endIndex
                let value = equals == trimmed.endIndex ? "" : trimmed[trimmed.index(after: equals)...]
                try pairs.append(String(trimmed[..<equals]), String(value))
            }
        }
        return pairs
    }
}
