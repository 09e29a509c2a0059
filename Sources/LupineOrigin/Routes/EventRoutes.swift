// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Server-sent events: `/events?count=&interval=&retry=`.
///
/// `count` is the number of the last event, and `interval` the number of seconds between two events. `retry` is the reconnection
/// time in milliseconds that the origin sends first. The events continue after the number in `Last-Event-ID`.
enum EventRoutes {
    static func add(to router: inout Router) {
        router.get("/events") { request throws(Refusal) in
            let count = try request.number(argument: "count") ?? 10
            let pause = try OriginRequest.seconds(request.arguments["interval"] ?? "0", atMost: 3_600)
            let lastID = request.field("Last-Event-ID").flatMap { Int($0) } ?? 0
            // Limited so that the addition does not overflow.
            var nextID = min(max(0, lastID), Int.max - 1) + 1
            var retryLines = try request.number(argument: "retry").map { "retry: \($0)\n\n" } ?? ""
            var response = OriginResponse(
                body: .stream(length: nil) { piece, _ in
                    // The second condition allows the addition below.
                    guard nextID <= count, nextID < .max else { return .end(trailers: Fields()) }
                    piece += "\(retryLines)id: \(nextID)\nevent: tick\ndata: {\"id\": \(nextID)}\n\n".utf8
                    // Only the first piece has the reconnection time.
                    retryLines = ""
                    nextID += 1
                    return pause == .zero ? .more : .pause(pause)
                })
            try response.add(.contentType, "text/event-stream")
            try response.add(.cacheControl, "no-cache")
            return response
        }
    }
}
