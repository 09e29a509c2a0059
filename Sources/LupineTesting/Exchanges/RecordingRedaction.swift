// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The redaction of a recording: credentials in header fields and in queries, and members of bodies with certain names.
///
/// The redacted header fields are those of logs: `Authorization`, `Cookie`, `Set-Cookie`, keys and tokens. In URLs, query
/// and fragment items with such names and the user information are redacted; in bodies, JSON members and form items with the
/// names defined here. `[redacted]` replaces each secret.
public struct RecordingRedaction: Sendable, Hashable {
    /// Additional names of secret header fields, query items and members of bodies, in lower case.
    public let names: Set<String>

    /// Creates a redaction of the standard names and of `names`, ignoring case.
    public init(_ names: Set<String> = []) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// The standard names: in bodies `password`, `client_secret`, `access_token`, `refresh_token`, `id_token`.
    public static let standard = RecordingRedaction()

    /// The names of secret members of bodies, in addition to `names`.
    private static let standardMembers: Set = [
        "password", "client_secret", "access_token", "refresh_token", "id_token",
    ]

    /// Whether a member of a body is a secret.
    private func isSecretMember(_ name: String) -> Bool {
        // No secret has a longer name, and lowercasing a long name, which the peer has chosen, would be expensive.
        guard name.utf8.count <= 1_024 else { return false }
        let lowercasedName = name.lowercased()
        return Self.standardMembers.contains(lowercasedName) || names.contains(lowercasedName)
    }

    /// Returns a URL without secrets.
    func url(_ url: URL) -> String { text(url.absoluteString) }

    /// Returns a text for people without secrets.
    func text(_ text: String) -> String {
        // Redacts what logs redact, and also the query items with one of these names.
        LogRedaction.line(text, or: names)
    }

    /// Returns the fields without secrets.
    func headers(_ headers: TestHeaders) -> TestHeaders {
        TestHeaders(
            headers.fields.map { field in
                TestHeaders.Field(
                    field.name, text(LogRedaction.value(field.value, ofField: field.name, or: names)))
            })
    }

    /// Returns a body without secrets; unchanged if it has none, or is neither JSON nor a form.
    func body(_ body: Data, type: String?) -> Data {
        let type = (type ?? "").lowercased()
        if type.hasPrefix("application/x-www-form-urlencoded") { return form(body) }
        guard type.contains("json"),
            let value = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
        else { return body }
        var hasSecrets = false
        let redactedValue = redacted(value, &hasSecrets)
        // Without secrets, the body keeps its formatting.
        guard hasSecrets,
            let data = try? JSONSerialization.data(
                withJSONObject: redactedValue,
                options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        else { return body }
        return data
    }

    /// Returns a JSON value without secrets; sets `hasSecrets` if there was one.
    private func redacted(_ value: Any, _ hasSecrets: inout Bool) -> Any {
        switch value {
        case let object as [String: Any]:
            var redactedObject: [String: Any] = [:]
            for (name, member) in object {
                if isSecretMember(name) {
                    hasSecrets = true
                    redactedObject[name] = LogRedaction.mark
                } else {
                    redactedObject[name] = redacted(member, &hasSecrets)
                }
            }
            return redactedObject
        case let array as [Any]: return array.map { redacted($0, &hasSecrets) }
        default: return value
        }
    }

    /// Returns the items of a form, without the values of secret ones.
    private func form(_ body: Data) -> Data {
        let items = String(decoding: body, as: UTF8.self).utf8
            .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let redactedItems = items.map { item -> String in
            let name = Substring(item.prefix { $0 != UInt8(ascii: "=") })
            let decodedName = name.removingPercentEncoding ?? String(name)
            // An item that is only a name, without `=`, has no value to redact.
            guard isSecretMember(decodedName), name.endIndex != item.endIndex else {
                return String(Substring(item))
            }
            return "\(name)=\(LogRedaction.mark)"
        }
        return Data(redactedItems.joined(separator: "&").utf8)
    }
}
