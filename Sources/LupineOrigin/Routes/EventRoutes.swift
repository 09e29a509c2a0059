// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Server-sent events: `/events?count=&interval=&retry=`, which continues after `Last-Event-ID`.
enum EventRoutes {
    static func add(to router: inout Router) {
        router.get("/events") { request throws(Refusal) in
            let count = try request.number(argument: "count") ?? 10
            let pause = try OriginRequest.seconds(request.arguments["interval"] ?? "0", atMost: 3_600)
            let last = request.field("Last-Event-ID").flatMap { Int($0) } ?? 0
            var next = min(max(0, last), Int.max - 1) + 1
            var opening = try request.number(argument: "retry").map { "retry: \($0)\n\n" } ?? ""
            var response = OriginResponse(
                body: .stream(length: nil) { piece, _ in
                    guard next <= count, next < .max else { return .end(trailers: Fields()) }
                    piece += "\(opening)id: \(next)\nevent: tick\ndata: {\"id\": \(next)}\n\n".utf8
                    opening = ""
                    next += 1
                    return pause == .zero ? .more : .pause(pause)
                })
            try response.add(.contentType, "text/event-stream")
            try response.add(.cacheControl, "no-cache")
            return response
        }
    }
}
