// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The part of a request on which its stored response depends (RFC 9111 §4.1; U-12.5, U-12.11):
///
/// - the fields that the response's `Vary` names,
/// - `Authorization`; without it the user information in the URL, for which a `URLProtocol` of the program may have answered,
/// - a `Host` that differs from that of the URL,
/// - for a response that is not for all users, the fields that identify users.
///
/// In memory a key has the values themselves. In a key that is written to disk, values that may be secret are concealed: replaced
/// by a keyed hash. All values count as secret, except the values of `Accept`, `Accept-*` and `Host`, because the name of a field
/// does not tell whether its value is secret.
package struct VaryKey: Hashable, Sendable {
    /// The value that a request had in a field.
    enum Value: Hashable, Sendable {
        /// The request did not have the field.
        case absent
        /// The value itself.
        case plain(String)
        /// A keyed hash of the value.
        case concealed(String)

        /// Compares octets. `String` compares canonical equivalence, under which different octets can be equal, and a peer may
        /// have chosen the value, such as that of `Last-Event-ID`.
        static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.absent, .absent): true
            case (.plain(let left), .plain(let right)), (.concealed(let left), .concealed(let right)):
                left.hasSameOctets(as: right)
            case (.absent, _), (.plain, _), (.concealed, _): false
            }
        }

        /// Creates the value of a field, or of its absence.
        init(_ text: String?) { self = text.map { .plain($0) } ?? .absent }

        /// Whether a request that has this text, or nothing, has this value. `hash` is the hash of concealed values.
        func isValue(_ text: String?, hash: KeyedHash?) -> Bool {
            switch (self, text) {
            case (.absent, nil): true
            case (.plain(let value), let text?): value.hasSameOctets(as: text)
            case (.concealed(let digits), let text?):
                hash.map { digits.hasSameOctets(as: $0.hexDigits(of: text)) } ?? false
            case (.absent, _?), (.plain, nil), (.concealed, nil): false
            }
        }

        /// The value, or its hash; nil for an absent one.
        var text: String? {
            switch self {
            case .absent: nil
            case .plain(let text), .concealed(let text): text
            }
        }

        /// Returns the value for the disk.
        func concealed(by hash: KeyedHash) -> Value {
            if case .plain(let text) = self { .concealed(hash.hexDigits(of: text)) } else { self }
        }

        var isConcealed: Bool { if case .concealed = self { true } else { false } }

        /// Consistent with `==`.
        func hash(into hasher: inout Hasher) {
            switch self {
            case .absent: hasher.combine(0)
            case .plain(let text), .concealed(let text): hasher.combine(PeerText(text))
            }
        }
    }

    /// The user that a response is for, if it is not for all users.
    struct Audience: Hashable, Sendable {
        /// The fields that identify users: `IdentifyingFields.digest`.
        let fieldsDigest: String
        /// The names and values of these fields in the request, as one value.
        let user: Value
    }

    /// Whether a field only selects the representation or the server, so that its value is no secret.
    private static func isPlain(_ name: String) -> Bool {
        name == "accept" || name.hasPrefix("accept-") || name == "host"
    }

    /// The values by lowercase field name.
    let values: [String: Value]
    /// The user that the response is for; nil if the response is the same for all users, according to the server or the program.
    let audience: Audience?

    /// Creates a key from its values.
    init(values: [String: Value], audience: Audience?) {
        self.values = values
        self.audience = audience
    }

    /// Creates the key of a request with all its fields merged.
    ///
    /// - Parameters:
    ///   - vary: The `Vary` of the response.
    ///   - identifying: The fields that identify users; nil for a response for all users.
    ///   - request: The request as it was sent.
    init(vary: String?, identifying: IdentifyingFields? = nil, request: URLRequest) {
        var values = Self.withoutAuthorization
        let authorization = Self.value(of: "authorization", in: request)
        if authorization != .absent { values["authorization"] = authorization }
        // `namedServer` is a `Host` that differs from that of the URL; nil for none.
        if request.namedServer != nil { values["host"] = Self.value(of: "host", in: request) }
        for name in Self.names(in: vary) where values[name] == nil {
            values[name] = Self.value(of: name, in: request)
        }
        self.init(
            values: values,
            audience: identifying.map {
                Audience(fieldsDigest: $0.digest, user: Value($0.text(of: request)))
            })
    }

    /// The values of a request without `Authorization`, which most requests share.
    private static let withoutAuthorization = ["authorization": Value.absent]

    /// The largest number of field names that a response may depend on.
    private static let maxNameCount = 64

    /// Returns the names in a `Vary` field, in lowercase; `*` if there are too many.
    static func names(in vary: String?) -> Set<String> {
        guard let vary else { return [] }
        guard vary.utf8.count(where: { $0 == UInt8(ascii: ",") }) < maxNameCount else { return ["*"] }
        return Set(vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() })
            .subtracting([""])
    }

    /// Whether the value of a field in another request cannot be known: `*` stands for more than fields, and `Proxy-*` fields are
    /// added later, for a proxy.
    static func isUnknown(_ name: String) -> Bool { name == "*" || name.hasPrefix("proxy-") }

    /// Whether another request has the same values. Returns false if the response depends on more than fields, or if the users of
    /// the stored response were identified by other fields than `identifying`. `hash` is the hash of concealed values; with nil,
    /// a concealed value matches none.
    func matches(
        _ request: URLRequest, identifying: IdentifyingFields = .defaultFields, hash: KeyedHash? = nil
    ) -> Bool {
        // `namedServer` is a `Host` that differs from that of the URL.
        if values["host"] == nil, request.namedServer != nil { return false }
        let hasSameFields = values.allSatisfy { name, stored in
            !Self.isUnknown(name) && stored.isValue(Self.text(of: name, in: request), hash: hash)
        }
        // Without an audience the response is for all users.
        guard hasSameFields, let audience else { return hasSameFields }
        return audience.fieldsDigest == identifying.digest
            && audience.user.isValue(identifying.text(of: request), hash: hash)
    }

    /// Whether any value is concealed.
    var isConcealed: Bool {
        audience?.user.isConcealed ?? false || values.contains { $0.value.isConcealed }
    }

    /// Whether a value that may be secret is not concealed, so that the key must not be written.
    var mustBeConcealed: Bool {
        if case .plain = audience?.user { return true }
        return values.contains { name, value in
            if case .plain = value { !Self.isPlain(name) } else { false }
        }
    }

    /// Returns the key for the disk, whose values that may be secret are replaced by their hashes. Returns nil if there are such
    /// values and no hash.
    func concealed(by hash: KeyedHash?) -> VaryKey? {
        if !mustBeConcealed { return self }
        guard let hash else { return nil }
        var values = values
        for (name, value) in self.values where !Self.isPlain(name) {
            values[name] = value.concealed(by: hash)
        }
        return VaryKey(
            values: values,
            audience: audience.map {
                Audience(fieldsDigest: $0.fieldsDigest, user: $0.user.concealed(by: hash))
            })
    }

    /// Returns the key for memory, of a key from the disk that matches a request: concealed values are replaced by those of the
    /// request.
    func revealed(by request: URLRequest, identifying: IdentifyingFields) -> VaryKey {
        var values = values
        for (name, value) in self.values where value.isConcealed {
            values[name] = Self.value(of: name, in: request)
        }
        guard let audience, audience.user.isConcealed else {
            return VaryKey(values: values, audience: audience)
        }
        let user = Value(identifying.text(of: request))
        return VaryKey(values: values, audience: Audience(fieldsDigest: audience.fieldsDigest, user: user))
    }

    /// The number of octets of all values.
    var size: Int {
        let user = audience?.user.text?.utf8.count ?? 0
        return values.reduce(user) { $0 + ($1.value.text?.utf8.count ?? 0) }
    }

    /// Returns the value that a request has in a field.
    private static func value(of name: String, in request: URLRequest) -> Value {
        Value(text(of: name, in: request))
    }

    /// Returns the text of a field in a request; nil if the request does not have the field.
    private static func text(of name: String, in request: URLRequest) -> String? {
        if name == "host" { return request.namedServer }
        if let value = request.value(forHTTPHeaderField: name) { return normalised(value) }
        // The prefix makes the text differ from the value of any `Authorization` field.
        return name == "authorization" ? request.url?.splitAtUserInfo.userInfo.map { "user \($0)" } : nil
    }

    /// Removes insignificant whitespace: around commas and at both ends, and all but one of repeated blanks.
    private static func normalised(_ value: String) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(value.utf8.count)
        // Whether the current list element has octets, and whether a blank has followed the last of them.
        var (isInElement, hasBlank) = (false, false)
        for octet in value.utf8 {
            switch octet {
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                hasBlank = isInElement
            case UInt8(ascii: ","):
                octets.append(octet)
                (isInElement, hasBlank) = (false, false)
            default:
                if hasBlank { octets.append(UInt8(ascii: " ")) }
                octets.append(octet)
                (isInElement, hasBlank) = (true, false)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
