// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// What is left out of a recording: credentials in header fields and in queries, and members of bodies by their names.
///
/// Header fields are those that logs leave out: `Authorization`, `Cookie`, `Set-Cookie`, keys and tokens. In queries and fragments
/// it is what has such a name, and the user in front of a host. In bodies, JSON and forms, it is the members that are named here.
/// Where a secret stood, `[redacted]` stands. A value.
public struct RecordingRedaction: Sendable, Hashable {
    /// Names of header fields, items of queries and members of bodies that are secrets besides; in any mix of cases.
    public let names: Set<String>

    /// The usual names, and these.
    public init(_ names: Set<String> = []) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// The usual names: of bodies `password`, `client_secret`, `access_token`, `refresh_token`, `id_token`.
    public static let standard = RecordingRedaction()

    private static let usualMembers: Set = [
        "password", "client_secret", "access_token", "refresh_token", "id_token",
    ]

    /// Whether a member of a body is a secret.
    private func isSecretMember(_ name: String) -> Bool {
        // No name of a secret is longer, and a peer's may be long to look at.
        guard name.utf8.count <= 1_024 else { return false }
        let small = name.lowercased()
        return Self.usualMembers.contains(small) || names.contains(small)
    }

    /// An address without secrets.
    func url(_ url: URL) -> String { text(url.absoluteString) }

    /// A text for people without secrets.
    func text(_ text: String) -> String { LogRedaction.line(text, or: names) }

    /// The fields without secrets.
    func headers(_ headers: TestHeaders) -> TestHeaders {
        TestHeaders(
            headers.fields.map { field in
                TestHeaders.Field(
                    field.name, text(LogRedaction.value(field.value, ofField: field.name, or: names)))
            })
    }

    /// A body without secrets; as it is where it has none, and where it is neither JSON nor a form.
    func body(_ body: Data, type: String?) -> Data {
        let type = (type ?? "").lowercased()
        if type.hasPrefix("application/x-www-form-urlencoded") { return form(body) }
        guard type.contains("json"),
            let value = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
        else { return body }
        var found = false
        let clean = redacted(value, &found)
        guard found,
            let data = try? JSONSerialization.data(
                withJSONObject: clean, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        else { return body }
        return data
    }

    private func redacted(_ value: Any, _ found: inout Bool) -> Any {
        switch value {
        case let object as [String: Any]:
            var clean: [String: Any] = [:]
            for (name, member) in object {
                if isSecretMember(name) {
                    found = true
                    clean[name] = LogRedaction.mark
                } else {
                    clean[name] = redacted(member, &found)
                }
            }
            return clean
        case let array as [Any]: return array.map { redacted($0, &found) }
        default: return value
        }
    }

    /// The items of a form, without the values of those that are secrets.
    private func form(_ body: Data) -> Data {
        let items = String(decoding: body, as: UTF8.self).utf8
            .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let clean = items.map { item -> String in
            let name = Substring(item.prefix { $0 != UInt8(ascii: "=") })
            let plain = name.removingPercentEncoding ?? String(name)
            guard isSecretMember(plain), name.endIndex != item.endIndex else {
                return String(Substring(item))
            }
            return "\(name)=\(LogRedaction.mark)"
        }
        return Data(clean.joined(separator: "&").utf8)
    }
}
