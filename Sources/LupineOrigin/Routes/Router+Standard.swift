// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The standard endpoints of every origin. Related endpoints are in one file of this folder.
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

    /// The endpoint for requests about the whole server, such as `OPTIONS *` (RFC 9110 §9.3.7). Its response lists the methods
    /// that the server implements.
    static let serverOptions = Endpoint.immediate { _ throws(Refusal) in
        var response = OriginResponse(204)
        try response.add(.allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
        return response
    }

    /// Adds a route for GET and HEAD that answers as soon as the request's head has arrived.
    mutating func get(
        _ pattern: String, _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        add(["GET"], pattern, .immediate(handler))
    }

    /// Adds a route for any method that answers when the whole body has arrived.
    mutating func any(
        _ pattern: String, _ handler: @escaping @Sendable (OriginRequest) throws(Refusal) -> OriginResponse
    ) {
        add(nil, pattern, .collected(handler))
    }
}
