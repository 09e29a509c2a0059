// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The path `/flowers` of the documentation's examples. GET lists all flowers, or those of the `colour` in the query. POST
/// accepts a flower in JSON, and returns the flower.
enum FlowerRoutes {
    private static let flowers: [(name: String, colour: String)] = [
        ("lupine", "blue"), ("gentian", "blue"), ("cornflower", "blue"), ("poppy", "red"),
        ("primrose", "yellow"),
    ]

    static func add(to router: inout Router) {
        router.get("/flowers") { request throws(Refusal) in
            let colour = request.arguments["colour"]
            let matching = flowers.filter { colour == nil || $0.colour == colour }
            return try OriginResponse(
                json: .array(
                    matching.map { .object([("name", .string($0.name)), ("colour", .string($0.colour))]) }))
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
