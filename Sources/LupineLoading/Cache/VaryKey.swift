// SPDX-License-Identifier: MIT

internal import Foundation

/// What of a request its stored answer depends on: the fields that `Vary` names, and `Authorization` always
/// (RFC 9111 §4.1; U-12.5, U-12.11).
///
/// A key goes to the disk, so values that are secrets are kept as what `conceal` makes of them: a keyed hash.
package struct VaryKey: Hashable, Sendable {
    private static let secrets: Set = ["authorization", "cookie", "proxy-authorization"]

    /// By name in small letters; a field that the request did not have is nil.
    let values: [String: String?]

    /// The key of these values, as another one gave them.
    init(values: [String: String?]) { self.values = values }

    /// The key of a request, all its fields being merged, for an answer with that `Vary`.
    init(vary: String?, request: URLRequest, conceal: (String) -> String) {
        let named = (vary ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        var values: [String: String?] = [:]
        for name in Set(named).union(["authorization"]) where !name.isEmpty {
            let value = request.value(forHTTPHeaderField: name).map(Self.normalised)
            values.updateValue(Self.secrets.contains(name) ? value.map(conceal) : value, forKey: name)
        }
        self.values = values
    }

    /// Whether another request gets the same answer; none does when the answer depends on more than its fields.
    func matches(_ request: URLRequest, conceal: (String) -> String) -> Bool {
        values.allSatisfy { name, stored in
            if name == "*" { return false }
            let value = request.value(forHTTPHeaderField: name).map(Self.normalised)
            return (Self.secrets.contains(name) ? value.map(conceal) : value) == stored
        }
    }

    /// Whether any of the values is a secret, and so concealed.
    var holdsSecrets: Bool { values.contains { $0.value != nil && Self.secrets.contains($0.key) } }

    /// A value without the blanks that do not count: around commas, at the ends, and more than one.
    private static func normalised(_ value: String) -> String {
        value.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.split { $0 == " " || $0 == "\t" }.joined(separator: " ") }
            .joined(separator: ",")
    }
}
