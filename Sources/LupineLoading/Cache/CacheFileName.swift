// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Which entry a file of a cache's folder holds: the digest of its address, and that of its party unless it is the plain one.
struct CacheFileName: PartyKey, Comparable, CustomStringConvertible {
    /// The digest of the address, in hexadecimal digits.
    let address: String
    /// The digest of the party; nil for the plain one.
    let party: String?

    var isPlain: Bool { party == nil }

    /// The name for an address, given by its digest; nil for a party whose entries are never written.
    init?(_ address: SHA256Digest, _ party: CacheParty?) {
        self.address = address.description
        guard let party else {
            self.party = nil
            return
        }
        guard let digest = party.fileDigest else { return nil }
        self.party = digest.description
    }

    /// The name that a text is; nil for one that is none.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ Self.isDigest($0) }), let address = parts.first else { return nil }
        self.address = String(address)
        party = parts.count > 1 ? String(parts[1]) : nil
    }

    private static func isDigest(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    }

    /// The digests, with a hyphen between them.
    var description: String { party.map { "\(address)-\($0)" } ?? address }

    /// The digest of the address.
    var addressDigest: SHA256Digest? {
        let digits = address.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64 else { return nil }
        return SHA256Digest(
            bytes: stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    /// Whether the entry is the one that the name stands for, as far as its party goes.
    func names(_ entry: CacheEntry) -> Bool { entry.provenance.party?.fileDigest?.description == party }

    static func < (left: CacheFileName, right: CacheFileName) -> Bool {
        (left.address, left.party ?? "") < (right.address, right.party ?? "")
    }
}
