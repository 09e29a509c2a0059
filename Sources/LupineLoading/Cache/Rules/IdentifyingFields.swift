// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// The header fields by which a server tells users apart, including `Cookie`, but not `Authorization`, which `VaryKey` always
/// includes (U-12.5).
final class IdentifyingFields: Sendable {
    /// A text that identifies this set of fields, also in other processes: the digest of the names.
    let name: String
    private let names: Set<String>

    /// Creates the set of `Cookie` and these fields.
    init(_ names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() } + ["cookie"])
        name = SHA256Digest.of(Array(self.names.sorted().joined(separator: "\0").utf8)).description
    }

    /// The fields of a configuration with the default `identifyingFields`.
    static let usual = IdentifyingFields(RedirectMove.sensitiveByDefault)

    /// Returns the values that a request has in these fields, as one text; nil if it has none of them.
    func text(of request: URLRequest) -> String? {
        let fields = request.headerList.fields
        guard fields.contains(where: { names.contains($0.name.lowercased()) }) else { return nil }
        return fields.map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { names.contains($0.name) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name):\($0.value)" }.joined(separator: "\0")
    }
}
