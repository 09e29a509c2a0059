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
    func url(_ url: URL) -> String {
        let text = LogRedaction.line(url.absoluteString)
        guard !names.isEmpty, let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
        return text[...mark]
            + redacted(text[mark...].dropFirst()) {
                $0.utf8.count <= 1_024 && names.contains($0.lowercased())
            }
    }

    /// A text for people without secrets.
    func text(_ text: String) -> String { LogRedaction.line(text) }

    /// The fields without secrets.
    func headers(_ headers: TestHeaders) -> TestHeaders {
        TestHeaders(
            headers.fields.map { field in
                let value = LogRedaction.value(field.value, ofField: field.name, or: names)
                return TestHeaders.Field(field.name, LogRedaction.line(value))
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

    private func form(_ body: Data) -> Data {
        Data(redacted(String(decoding: body, as: UTF8.self)[...], isSecretMember).utf8)
    }

    /// The items of a query or a form, without the values of those that are secrets.
    private func redacted(_ items: Substring, _ isSecret: (String) -> Bool) -> String {
        items.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { item -> String in
                let name = Substring(item.prefix { $0 != UInt8(ascii: "=") })
                let plain = name.removingPercentEncoding ?? String(name)
                guard isSecret(plain), name.endIndex != item.endIndex else { return String(Substring(item)) }
                return "\(name)=\(LogRedaction.mark)"
            }
            .joined(separator: "&")
    }
}
