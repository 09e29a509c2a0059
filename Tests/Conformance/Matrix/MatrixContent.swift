// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin

/// The content that every server of the matrix serves, and the routes of the origin behind the proxies.
enum MatrixContent {
    static let line = "All work and no play makes a dull server. "
    static let lines = 500
    static let largeLines = 20_000
    static let page = String(repeating: line, count: lines)
    static let large = String(repeating: line, count: largeLines)

    /// Adds the content that `PythonApplication` serves, too.
    static func serve(on origin: LupineOrigin.Origin) {
        func answer(_ path: String, _ text: String, _ fields: [(String, String)] = []) {
            for method in ["GET", "HEAD"] {
                origin.route(method, path) { _ throws(Refusal) in
                    var response = try OriginResponse(200, "text/plain", Array(text.utf8))
                    for (name, value) in fields { try response.add(name, value) }
                    return response
                }
            }
        }
        answer("/page", page)
        answer("/large", large)
        answer("/empty", "")
        answer("/many", "many", (0..<300).map { ("X-Many-\($0)", "\($0)") })
        answer("/wide", "wide", [("X-Wide", String(repeating: "w", count: 8_192))])
        answer("/cookie", "set", [("Set-Cookie", "taste=sweet; Path=/")])
        origin.route("GET", "/cookies") { request throws(Refusal) in
            try OriginResponse(200, "text/plain", Array((request.field("Cookie") ?? "none").utf8))
        }
        origin.route(nil, "/echo") { request throws(Refusal) in
            try OriginResponse(200, "text/plain", request.body)
        }
        origin.route("GET", "/auth") { request throws(Refusal) in
            if request.field("Authorization") == "Basic dXNlcjpwYXNz" {
                return try OriginResponse(200, "text/plain", Array("in".utf8))
            }
            var response = OriginResponse(401)
            try response.add("WWW-Authenticate", "Basic realm=\"r\"")
            return response
        }
        origin.route("GET", "/chunks") { _ throws(Refusal) in
            let whole = Array(large.utf8)
            var sent = 0
            return OriginResponse(
                body: .stream(length: nil) { piece, room in
                    let size = min(room, 7_000, whole.count - sent)
                    piece += whole[sent..<(sent + size)]
                    sent += size
                    return sent == whole.count ? .end(trailers: Fields()) : .more
                })
        }
    }
}
