// SPDX-License-Identifier: MIT

/// The fields that are allowed in trailers: RFC 9110 §6.5.1.
///
/// The codecs drop received trailers that frame, route, authenticate, control a response or describe its content, and refuse to
/// send them: a recipient has already acted on the head, so that such a trailer can only be a mistake or an attack.
package enum TrailerRule {
    private static let forbidden: Set<String> = [
        "age", "authorization", "cache-control", "connection", "content-encoding", "content-length",
        "content-range",
        "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive", "location",
        "max-forwards",
        "pragma", "proxy-authenticate", "proxy-authorization", "proxy-connection", "range", "retry-after",
        "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "vary", "warning", "www-authenticate",
    ]

    /// Whether a field of that name is allowed in trailers.
    package static func allows(_ name: String) -> Bool { !forbidden.contains(name.lowercased()) }

    /// Returns `fields` without those that are not allowed in trailers.
    package static func allowed(_ fields: Fields) -> Fields {
        var allowed = fields
        for index in 0..<fields.count where !allows(fields.name(at: index)) {
            allowed.remove(fields.fieldName(at: index))
        }
        return allowed
    }
}
