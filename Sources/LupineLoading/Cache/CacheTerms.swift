// SPDX-License-Identifier: MIT

internal import Foundation

/// The conditions under which an entry in the cache's folder answers a request: its `VaryKey` and its provenance.
///
/// The index contains the terms, so that a look-up need not read entries that do not answer the request. Most entries have equal
/// terms and share one object.
final class CacheTerms: Sendable {
    /// Concealed with the key of the folder.
    let vary: VaryKey
    let provenance: CacheProvenance
    /// The encoded terms, as `CacheEntryFormat` writes them.
    let octets: [UInt8]

    /// Creates the terms of an entry. Returns nil for an entry that may not be written. `hash` is the hash of the folder; needed
    /// only if the entry must be concealed.
    init?(_ entry: CacheEntry, hash: KeyedHash?) {
        var writer = OctetWriter()
        guard let vary = entry.vary.concealed(by: hash), CacheEntryFormat.write(vary, to: &writer),
            CacheEntryFormat.write(entry.provenance, to: &writer)
        else { return nil }
        self.vary = vary
        provenance = entry.provenance
        octets = writer.octets
    }

    /// Decodes terms from octets that are not trusted.
    init(_ octets: [UInt8]) throws(OctetReader.Damage) {
        var reader = OctetReader(octets, in: octets.indices)
        vary = try CacheEntryFormat.readVary(&reader)
        provenance = try CacheEntryFormat.readProvenance(&reader)
        guard reader.isAtEnd else { throw OctetReader.Damage() }
        self.octets = octets
    }

    /// Whether the entry may answer a request (U-12.2, U-12.5, U-12.11).
    ///
    /// - Parameters:
    ///   - request: The request with all its fields merged.
    ///   - requester: The task that looks up the cache.
    ///   - hash: The hash of the folder; nil if its key was not read yet. With nil, concealed terms count as matching, because
    ///     they cannot be compared.
    func mayAnswer(_ request: URLRequest, of requester: CacheRequester, hash: KeyedHash?) -> Bool {
        guard CacheAdmission.admits(requester, to: provenance) else { return false }
        if hash == nil, vary.isConcealed { return true }
        return vary.matches(request, identifying: requester.identifyingFields, hash: hash)
    }
}

/// Contains one object for each set of equal terms, so that entries can share it. When the pool is full, it is emptied; entries
/// keep the objects that they have.
struct CacheTermsPool: Sendable {
    private static let maxCount = 256
    /// The terms by their encoding.
    private var shared: [[UInt8]: CacheTerms] = [:]
    /// The terms that `terms(of:)` has last returned, and what it has made them from.
    private var latest: (vary: VaryKey, terms: CacheTerms)?

    /// Returns the terms that these octets encode.
    mutating func terms(_ octets: [UInt8]) throws(OctetReader.Damage) -> CacheTerms {
        if let terms = shared[octets] { return terms }
        let terms = try CacheTerms(octets)
        insert(terms)
        return terms
    }

    /// Returns the terms of an entry, which are often those of the previous entry; nil for an entry that may not be written.
    /// `hash` is the hash of the folder; needed only if the entry must be concealed.
    mutating func terms(of entry: CacheEntry, hash: KeyedHash?) -> CacheTerms? {
        if let latest, latest.terms.provenance == entry.provenance, latest.vary == entry.vary {
            return latest.terms
        }
        guard let terms = CacheTerms(entry, hash: hash) else { return nil }
        if let known = shared[terms.octets] {
            latest = (entry.vary, known)
            return known
        }
        latest = (entry.vary, terms)
        insert(terms)
        return terms
    }

    /// Releases what belongs to the latest entry, which may be secret.
    mutating func endBatch() { latest = nil }

    private mutating func insert(_ terms: CacheTerms) {
        if shared.count >= Self.maxCount { shared = [:] }
        shared[terms.octets] = terms
    }
}
