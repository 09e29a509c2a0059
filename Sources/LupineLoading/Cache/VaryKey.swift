// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// What of a request its stored answer depends on: the fields that `Vary` names, `Authorization` and another `Host` than the
/// address's always, and, of an answer that
/// is not everybody's, those that tell users apart (RFC 9111 §4.1; U-12.5, U-12.11). While a request has no `Authorization`, the
/// user whom its address names stands for it: a protocol of the program's may have answered that user.
///
/// A key goes to the disk, so values that may be secrets are kept as what `conceal` makes of them: a keyed hash. Which fields of a
/// program's are secrets nobody can tell by their names, and what is everybody's may still depend on one: all values may be but for
/// those of `Accept` and its kin, and a `Host`.
package struct VaryKey: Hashable, Sendable {
    /// What a request had in a field.
    enum Value: Hashable, Sendable {
        /// It did not have the field.
        case absent
        case plain(String)
        /// It may be a secret.
        case concealed(String)

        /// By octets: a peer may have chosen what a request says, such as its `Last-Event-ID`.
        static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.absent, .absent): true
            case (.plain(let left), .plain(let right)), (.concealed(let left), .concealed(let right)):
                left.hasSameOctets(as: right)
            case (.absent, _), (.plain, _), (.concealed, _): false
            }
        }

        /// Goes with `==`.
        func hash(into hasher: inout Hasher) {
            switch self {
            case .absent: hasher.combine(0)
            case .plain(let text), .concealed(let text): hasher.combine(PeerText(text))
            }
        }
    }

    /// Who an answer is for, if not for everybody.
    struct Audience: Hashable, Sendable {
        /// By which fields users are told apart: `IdentifyingFields.name`.
        let fields: String
        /// What the request had in them, concealed; nil when it had none.
        let user: String?
    }

    /// The fields that say no more than which form of an answer is wanted, or of whom.
    private static func isPlain(_ name: String) -> Bool {
        name == "accept" || name.hasPrefix("accept-") || name == "host"
    }

    /// By name in small letters.
    let values: [String: Value]
    /// Nil for an answer that is the same for all users, as far as the server or the program says.
    let audience: Audience?

    /// The key of these values, as another one gave them.
    init(values: [String: Value], audience: Audience?) {
        self.values = values
        self.audience = audience
    }

    /// The key of a request, all its fields being merged.
    ///
    /// - Parameters:
    ///   - vary: The answer's `Vary`.
    ///   - identifying: The fields that tell users apart; nil for an answer that is for everybody.
    ///   - request: The request as it went out.
    ///   - conceal: Hides what may be a secret.
    init(
        vary: String?, identifying: IdentifyingFields? = nil, request: URLRequest, conceal: (String) -> String
    ) {
        var values = Self.nothing
        let authorization = Self.value(of: "authorization", in: request, conceal)
        if authorization != .absent { values["authorization"] = authorization }
        if request.namedServer != nil { values["host"] = Self.value(of: "host", in: request, conceal) }
        for name in Self.names(in: vary) where values[name] == nil {
            values[name] = Self.value(of: name, in: request, conceal)
        }
        self.init(
            values: values,
            audience: identifying.map { Audience(fields: $0.name, user: $0.text(of: request).map(conceal)) })
    }

    /// What nearly all answers depend on: that nobody has named themselves.
    private static let nothing = ["authorization": Value.absent]

    /// The most names that an answer may depend on.
    private static let mostNames = 64

    /// The names that a `Vary` lists, in small letters; `*` stands for more than are compared.
    static func names(in vary: String?) -> Set<String> {
        guard let vary else { return [] }
        guard vary.utf8.count(where: { $0 == UInt8(ascii: ",") }) < mostNames else { return ["*"] }
        return Set(vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() })
            .subtracting([""])
    }

    /// Whether nobody can say what another request has there: more than its fields, or what goes to a proxy on the way and is
    /// added there.
    static func isUnknown(_ name: String) -> Bool { name == "*" || name.hasPrefix("proxy-") }

    /// Whether another request gets the same answer; none does when the answer depends on more than its fields, or when it
    /// is for one of users who were told apart by other fields.
    func matches(
        _ request: URLRequest, identifying: IdentifyingFields = .usual, conceal: (String) -> String
    ) -> Bool {
        if values["host"] == nil, request.namedServer != nil { return false }
        let hasSameFields = values.allSatisfy { name, stored in
            if Self.isUnknown(name) { return false }
            guard let value = Self.text(of: name, in: request) else {
                return stored == .absent
            }
            return switch stored {
            case .absent: false
            case .plain(let text): text.hasSameOctets(as: value)
            case .concealed(let hash): hash.hasSameOctets(as: conceal(value))
            }
        }
        guard hasSameFields, let audience else { return hasSameFields }
        return audience.fields == identifying.name
            && audience.user == identifying.text(of: request).map(conceal)
    }

    /// Whether any of the values is concealed.
    var holdsSecrets: Bool {
        audience?.user != nil || values.contains { if case .concealed = $0.value { true } else { false } }
    }

    private static func value(
        of name: String, in request: URLRequest, _ conceal: (String) -> String
    ) -> Value {
        guard let value = text(of: name, in: request) else { return .absent }
        return isPlain(name) ? .plain(value) : .concealed(conceal(value))
    }

    private static func text(of name: String, in request: URLRequest) -> String? {
        if name == "host" { return request.namedServer }
        if let value = request.value(forHTTPHeaderField: name) { return normalised(value) }
        return name == "authorization" ? request.url?.partedFromUserInfo.userInfo.map { "user \($0)" } : nil
    }

    /// A value without the blanks that do not count: around commas, at the ends, and more than one.
    private static func normalised(_ value: String) -> String {
        value.utf8.split(separator: 0x2C, omittingEmptySubsequences: false)
            .map { item in
                item.split { $0 == 0x20 || $0 == 0x09 }.map { String(Substring($0)) }.joined(separator: " ")
            }
            .joined(separator: ",")
    }
}
