// SPDX-License-Identifier: MIT

internal import Foundation

/// On what terms an entry in the folder is an answer: what of a request it depends on, and where it came from.
///
/// The index has them, so that a request which the entry does not answer is not kept waiting for the disk. The secrets in them
/// are concealed by the hash of the user's key. Most entries have the same ones and share an object.
final class CacheTerms: Sendable {
    let vary: VaryKey
    let provenance: CacheProvenance
    /// The same as octets.
    let octets: [UInt8]

    /// The terms of an entry whose secrets are concealed by a hash that lasts; nil for one that may not be written.
    init?(_ entry: CacheEntry) {
        var writer = OctetWriter()
        CacheEntryFile.write(entry.vary, to: &writer)
        guard CacheEntryFile.write(entry.provenance, to: &writer) else { return nil }
        vary = entry.vary
        provenance = entry.provenance
        octets = writer.octets
    }

    /// The terms that stand in octets which may have become anything since.
    init(_ octets: [UInt8]) throws(OctetReader.Damage) {
        var reader = OctetReader(octets, in: octets.indices)
        vary = try CacheEntryFile.readVary(&reader)
        provenance = try CacheEntryFile.readProvenance(&reader)
        guard reader.isAtEnd else { throw OctetReader.Damage() }
        self.octets = octets
    }

    /// Whether the entry can be a reader's answer to a request (U-12.2, U-12.5, U-12.11).
    ///
    /// - Parameter hash: What concealed the secrets; nil while the key has not been read. Then the answer is yes where it
    ///   would depend on one.
    func mayAnswer(_ request: URLRequest, of reader: CacheReader, hash: KeyedHash?) -> Bool {
        guard CacheAdmission.admits(reader, to: provenance) else { return false }
        if hash == nil, vary.holdsSecrets { return true }
        return vary.matches(request, identifying: reader.identifyingFields) {
            hash?.text(for: $0) ?? ""
        }
    }
}

/// Terms by their octets, so that equal ones are one object. Bounded: it forgets all when there are too many.
struct CacheTermsPool: Sendable {
    private static let most = 256
    private var known: [[UInt8]: CacheTerms] = [:]
    /// Those of the last entry.
    private var latest: CacheTerms?

    /// The terms in these octets.
    mutating func terms(_ octets: [UInt8]) throws(OctetReader.Damage) -> CacheTerms {
        if let terms = known[octets] { return terms }
        let terms = try CacheTerms(octets)
        note(terms)
        return terms
    }

    /// The terms of an entry; nil for one that may not be written. Mostly they are those of the one before.
    mutating func terms(of entry: CacheEntry) -> CacheTerms? {
        if let latest, latest.provenance == entry.provenance, latest.vary == entry.vary { return latest }
        guard let terms = CacheTerms(entry) else { return nil }
        latest = known[terms.octets] ?? terms
        if latest === terms { note(terms) }
        return latest
    }

    private mutating func note(_ terms: CacheTerms) {
        if known.count >= Self.most { known = [:] }
        known[terms.octets] = terms
    }
}
