// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The path used in the documentation's examples: GET `/flowers` lists flowers, optionally of the query's `colour`; POST accepts
/// a flower.
enum FlowerRoutes {
    private static let flowers = [
        ("lupine", "blue"), ("gentian", "blue"), ("cornflower", "blue"), ("poppy", "red"),
        ("primrose", "yellow"),
    ]

    static func add(to router: inout Router) {
        router.get("/flowers") { request throws(Refusal) in
            let colour = request.arguments["colour"]
            let wanted = flowers.filter { colour == nil || $0.1 == colour }
            return try OriginResponse(
                json: .array(
                    wanted.map { .object([("name", .string($0.0)), ("colour", .string($0.1))]) }))
        }
        router.add(
            ["POST"], "/flowers",
            .collected { request throws(Refusal) in
                guard request.mediaType == "application/json", JSONSyntax.accepts(request.body) else {
                    throw Refusal(415, "a flower is JSON")
                }
                return try OriginResponse(201, "application/json", request.body)
            })
    }
}
