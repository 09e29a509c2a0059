// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// The header fields by which a server tells users apart, including `Cookie`, but not `Authorization`, which `VaryKey` always
/// includes (U-12.5).
final class IdentifyingFields: Sendable {
    /// The digest of the names, as text, which identifies this set of fields in all processes.
    let digest: String
    private let names: Set<String>
    /// The octets of the names by their number, which are faster to search than the set. Nil if a name is not ASCII, as valid names
    /// are.
    private let namesByLength: [[[UInt8]]]?

    /// Creates the set of `Cookie` and these fields.
    init(_ names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() } + ["cookie"])
        let areASCII = self.names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        var namesByLength = [[[UInt8]]](
            repeating: [], count: (self.names.map(\.utf8.count).max() ?? 0) + 1)
        for name in self.names { namesByLength[name.utf8.count].append(Array(name.utf8)) }
        self.namesByLength = areASCII ? namesByLength : nil
        // The separator is a character that no field name contains.
        digest = SHA256Digest.of(Array(self.names.sorted().joined(separator: "\0").utf8)).description
    }

    /// The fields of a session whose configuration the program has not changed.
    static let defaultFields = IdentifyingFields(RedirectMove.sensitiveByDefault)

    /// Returns the names and values that a request has in these fields, as one text; nil if it has none of them. Sorted, so that
    /// the order of the fields does not matter.
    func text(of request: URLRequest) -> String? {
        let fields = request.headerList.fields
        // A span, because the iteration over the array would copy each field.
        let span = fields.span
        guard span.indices.contains(where: { mayContain(span[$0].name) }) else { return nil }
        let identifying = fields.map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { names.contains($0.name) }
        if identifying.isEmpty { return nil }
        return identifying.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name):\($0.value)" }.joined(separator: "\0")
    }

    /// Whether a name, in any case, is in the set. Names with invalid characters may be found too.
    private func mayContain(_ name: String) -> Bool {
        guard let namesByLength else { return names.contains(name.lowercased()) }
        let length = name.utf8.count
        guard length < namesByLength.count, !namesByLength[length].isEmpty else { return false }
        let octets = name.utf8.span
        return namesByLength[length].contains { candidate in
            let candidate = candidate.span
            // 0x20 is the bit in which lower-case letters differ from capitals. The names of the set are in lower case.
            return octets.indices.allSatisfy { octets[$0] | 0x20 == candidate[$0] | 0x20 }
        }
    }
}
