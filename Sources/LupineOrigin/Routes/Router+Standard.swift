// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The endpoints that every origin has. Each family stands in a file of its own beside this one.
extension Router {
    /// A router with all of them, and the state that goes with it.
    static func standard() -> Router {
        var router = Router()
        EchoRoutes.add(to: &router)
        StatusRoutes.add(to: &router)
        RedirectRoutes.add(to: &router)
        CookieRoutes.add(to: &router)
        BasicAuthRoutes.add(to: &router)
        DigestRoutes.add(to: &router)
        CodingRoutes.add(to: &router)
        ByteRoutes.add(to: &router)
        RangeRoutes.add(to: &router)
        CacheRoutes.add(to: &router)
        DocumentRoutes.add(to: &router)
        FlowerRoutes.add(to: &router)
        UploadRoutes.add(to: &router)
        EventRoutes.add(to: &router)
        TLSRoutes.add(to: &router)
        WebSocketRoutes.add(to: &router)
        let patterns = router.patterns.sorted()
        router.get("/") { _ throws(Refusal) in
            try OriginResponse(json: .object([("endpoints", .array(patterns.map { .string($0) }))]))
        }
        return router
    }

    /// What OPTIONS for the server as a whole gets (RFC 9110 §9.3.7): the methods that it knows at all.
    static let whole = Endpoint.immediate { _ throws(Refusal) in
        var response = OriginResponse(204)
        try response.add(.allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
        return response
    }

    /// Answers GET, and HEAD with it, as soon as the head is there.
    mutating func get(
        _ pattern: String, _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        add(["GET"], pattern, .immediate(handler))
    }

    /// Answers any method once the body is there.
    mutating func any(
        _ pattern: String, _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        add(nil, pattern, .collected(handler))
    }
}
