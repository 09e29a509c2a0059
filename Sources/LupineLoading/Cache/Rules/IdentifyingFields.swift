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
    /// The names in an array, which is faster to search than the set: most names differ in their length or first octet. Nil if a
    /// name is not ASCII, as valid names are.
    private let orderedNames: [String]?
    /// A bit for each length of a name, in octets; the last bit is for all lengths from 63 on.
    private let lengths: UInt64

    /// Creates the set of `Cookie` and these fields.
    init(_ names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() } + ["cookie"])
        let areASCII = self.names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
        orderedNames = areASCII ? self.names.sorted() : nil
        lengths = self.names.reduce(0) { $0 | Self.lengthBit(of: $1) }
        // The separator is a character that no field name contains.
        digest = SHA256Digest.of(Array(self.names.sorted().joined(separator: "\0").utf8)).description
    }

    /// The fields of a session whose configuration the program has not changed.
    static let defaultFields = IdentifyingFields(RedirectMove.sensitiveByDefault)

    /// Returns the names and values that a request has in these fields, as one text; nil if it has none of them. Sorted, so that
    /// the order of the fields does not matter.
    func text(of request: URLRequest) -> String? {
        let fields = request.headerList.fields
        guard fields.contains(where: { contains($0.name) }) else { return nil }
        return fields.map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { names.contains($0.name) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name):\($0.value)" }.joined(separator: "\0")
    }

    /// Whether a name, in any case, is in the set.
    private func contains(_ name: String) -> Bool {
        guard let orderedNames else { return names.contains(name.lowercased()) }
        // The lengths save most searches.
        guard lengths & Self.lengthBit(of: name) != 0 else { return false }
        return orderedNames.contains { HeaderList.isSame($0, name) }
    }

    /// Returns the bit of a name's length in `lengths`.
    private static func lengthBit(of name: String) -> UInt64 { 1 << UInt64(min(name.utf8.count, 63)) }
}
