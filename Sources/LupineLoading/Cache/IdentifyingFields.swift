// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// The fields by which a server tells users apart, `Cookie` among them. `Authorization` is not: it always counts (U-12.5).
final class IdentifyingFields: Sendable {
    /// What tells these fields from others, also in another process.
    let name: String
    private let names: Set<String>

    /// `Cookie` and the fields of these names.
    init(_ names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() } + ["cookie"])
        name = SHA256Digest.of(Array(self.names.sorted().joined(separator: "\0").utf8)).description
    }

    /// Those of a configuration that names no others.
    static let usual = IdentifyingFields(RedirectMove.sensitiveByDefault)

    /// What a request has in these fields, in one text; nil when it has none of them.
    func text(of request: URLRequest) -> String? {
        let fields = request.headerList.fields
        guard fields.contains(where: { names.contains($0.name.lowercased()) }) else { return nil }
        return fields.map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { names.contains($0.name) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name):\($0.value)" }.joined(separator: "\0")
    }
}
