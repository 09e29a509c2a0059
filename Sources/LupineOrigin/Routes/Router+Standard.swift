// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The standard endpoints of every origin. Each family is in its own file in this folder.
extension Router {
    /// Returns a router with all standard endpoints and their state.
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

    /// The endpoint for OPTIONS requests about the whole server (RFC 9110 §9.3.7): it returns the methods that the server
    /// implements.
    static let serverOptions = Endpoint.immediate { _ throws(Refusal) in
        var response = OriginResponse(204)
        try response.add(.allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
        return response
    }

    /// Answers GET and HEAD as soon as the request's head has arrived.
    mutating func get(
        _ pattern: String, _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        add(["GET"], pattern, .immediate(handler))
    }

    /// Answers any method when the whole body has arrived.
    mutating func any(
        _ pattern: String, _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        add(nil, pattern, .collected(handler))
    }
}
