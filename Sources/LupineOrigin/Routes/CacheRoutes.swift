// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Validators and freshness (RFC 9110 section 13, RFC 9111): `/etag`, `/cache`.
enum CacheRoutes {
    static func add(to router: inout Router) {
        router.any("/etag/{tag}") { request throws(Refusal) in
            let tag = "\"\(request.parameters[0])\""
            let fields = request.head.fields
            if let list = request.field("If-Match"), !matches(list, tag, weakly: false) {
                return try tagged(OriginResponse(412), tag)
            }
            if !fields.contains(.ifNoneMatch)
                || !fields.values(of: .ifNoneMatch).contains(where: {
                    matches($0, tag, weakly: true)
                })
            {
                return try tagged(try OriginResponse(json: .object(EchoRoutes.requestMembers(request))), tag)
            }
            let isRead = request.head.method == .get || request.head.method == .head
            return try tagged(OriginResponse(isRead ? 304 : 412), tag)
        }
        router.get("/cache") { request throws(Refusal) in
            let fields = request.head.fields
            guard !fields.contains(.ifNoneMatch), !fields.contains(.ifModifiedSince) else {
                return try tagged(OriginResponse(304), "\"cache\"")
            }
            var response = try OriginResponse(json: .object(EchoRoutes.requestMembers(request)))
            try response.add(.lastModified, RangeRoutes.lastModified)
            return try tagged(response, "\"cache\"")
        }
        router.get("/cache/{seconds}") { request throws(Refusal) in
            var response = try OriginResponse(json: .object(EchoRoutes.requestMembers(request)))
            try response.add(.cacheControl, "public, max-age=\(try request.number(parameter: 0))")
            return response
        }
    }

    /// Returns the response with an `ETag`.
    private static func tagged(
        _ response: OriginResponse, _ tag: String
    ) throws(Refusal) -> OriginResponse {
        var response = response
        try response.add(.eTag, tag)
        return response
    }

    /// Returns whether a list of entity tags contains `tag` or is `*` (RFC 9110 section 8.8.3.2).
    private static func matches(_ list: String, _ tag: String, weakly: Bool) -> Bool {
        let octets = Array(list.utf8)
        let bytes = octets.span
        var isFound = false
        let weak = "W/" + tag
        ListSyntax.forEachElement(in: bytes, upTo: ListSyntax.elementLimit) { range in
            let element = octets[range]
            isFound =
                isFound || element.elementsEqual("*".utf8) || element.elementsEqual(tag.utf8)
                || weakly && element.elementsEqual(weak.utf8)
        }
        return isFound
    }
}
