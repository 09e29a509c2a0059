// SPDX-License-Identifier: MIT

/// Decides which fields are allowed in trailers: RFC 9110 §6.5.1.
///
/// A field is forbidden if it concerns framing, routing or authentication, modifies a request, controls a response, or describes
/// the content. A recipient has used such fields before the trailers arrive, so that in trailers they are a mistake or an attack.
/// The codecs drop forbidden trailers that they receive, and refuse to send them.
package enum TrailerRule {
    /// The forbidden names, in lower case.
    private static let forbiddenNames: Set<String> = [
        "age", "authorization", "cache-control", "connection", "content-encoding", "content-length",
        "content-range",
        "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive", "location",
        "max-forwards",
        "pragma", "proxy-authenticate", "proxy-authorization", "proxy-connection", "range", "retry-after",
        "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "vary", "warning", "www-authenticate",
    ]

    /// Whether a field of that name is allowed in trailers.
    package static func allows(_ name: String) -> Bool { !forbiddenNames.contains(name.lowercased()) }

    /// Returns the fields that are allowed in trailers.
    package static func removingForbiddenFields(from fields: Fields) -> Fields {
        var allowed = fields
        for index in 0..<fields.count where !allows(fields.name(at: index)) {
            allowed.remove(fields.fieldName(at: index))
        }
        return allowed
    }
}
