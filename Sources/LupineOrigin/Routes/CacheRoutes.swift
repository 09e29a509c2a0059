// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Conditional requests and freshness (RFC 9110 section 13, RFC 9111): `/etag`, `/cache`.
enum CacheRoutes {
    static func add(to router: inout Router) {
        router.any("/etag/{tag}") { request throws(Refusal) in
            let tag = "\"\(request.parameters[0])\""
            let fields = request.head.fields
            if let list = request.field("If-Match"), !contains(tag, in: list, weakly: false) {
                return try adding(tag, to: OriginResponse(412))
            }
            // `If-None-Match` excludes the versions that the client has, or all versions (`*`).
            let isExcluded = fields.values(of: .ifNoneMatch).contains { contains(tag, in: $0, weakly: true) }
            guard isExcluded else {
                let document = JSON.object(EchoRoutes.requestMembers(request))
                return try adding(tag, to: try OriginResponse(json: document))
            }
            let isGetOrHead = request.head.method == .get || request.head.method == .head
            return try adding(tag, to: OriginResponse(isGetOrHead ? 304 : 412))
        }
        router.get("/cache") { request throws(Refusal) in
            let fields = request.head.fields
            // The content never changes, whatever tag or date the condition has.
            guard !fields.contains(.ifNoneMatch), !fields.contains(.ifModifiedSince) else {
                return try adding("\"cache\"", to: OriginResponse(304))
            }
            var response = try OriginResponse(json: .object(EchoRoutes.requestMembers(request)))
            try response.add(.lastModified, RangeRoutes.lastModified)
            return try adding("\"cache\"", to: response)
        }
        router.get("/cache/{seconds}") { request throws(Refusal) in
            var response = try OriginResponse(json: .object(EchoRoutes.requestMembers(request)))
            try response.add(.cacheControl, "public, max-age=\(try request.number(parameter: 0))")
            return response
        }
    }

    /// Returns the response with `tag` in its `ETag` field.
    private static func adding(
        _ tag: String, to response: OriginResponse
    ) throws(Refusal) -> OriginResponse {
        var response = response
        try response.add(.eTag, tag)
        return response
    }

    /// Returns whether a list of entity tags contains `tag` or is `*`. `weakly` uses the weak comparison, which ignores the
    /// prefix `W/` (RFC 9110 section 8.8.3.2).
    private static func contains(_ tag: String, in list: String, weakly: Bool) -> Bool {
        let octets = Array(list.utf8)
        let bytes = octets.span
        var isFound = false
        let matchingElements = weakly ? ["*", tag, "W/" + tag] : ["*", tag]
        ListSyntax.forEachElement(in: bytes, upTo: ListSyntax.elementLimit) { range in
            let element = octets[range]
            if matchingElements.contains(where: { element.elementsEqual($0.utf8) }) { isFound = true }
        }
        return isFound
    }
}
