// SPDX-License-Identifier: MIT

internal import Foundation

/// The conditions under which an entry in the folder answers a request: the part of the request that it depends on, and its
/// provenance.
///
/// The index contains the terms, so that no request waits for the disk because of an entry that does not answer it. Secrets in
/// them are concealed by a hash with the user's key. Entries with equal terms, which is most of them, share an object.
final class CacheTerms: Sendable {
    let vary: VaryKey
    let provenance: CacheProvenance
    /// The encoded terms.
    let octets: [UInt8]

    /// Creates the terms of an entry whose secrets are concealed with the persistent key; nil for an entry that may not be
    /// written.
    init?(_ entry: CacheEntry) {
        var writer = OctetWriter()
        CacheEntryFile.write(entry.vary, to: &writer)
        guard CacheEntryFile.write(entry.provenance, to: &writer) else { return nil }
        vary = entry.vary
        provenance = entry.provenance
        octets = writer.octets
    }

    /// Decodes terms from octets that are not trusted.
    init(_ octets: [UInt8]) throws(OctetReader.Damage) {
        var reader = OctetReader(octets, in: octets.indices)
        vary = try CacheEntryFile.readVary(&reader)
        provenance = try CacheEntryFile.readProvenance(&reader)
        guard reader.isAtEnd else { throw OctetReader.Damage() }
        self.octets = octets
    }

    /// Whether the entry may answer a reader's request (U-12.2, U-12.5, U-12.11).
    ///
    /// - Parameter hash: The hash that concealed the secrets; nil while its key has not been read. Then terms with secrets are
    ///   assumed to match.
    func mayAnswer(_ request: URLRequest, of requester: CacheRequester, hash: KeyedHash?) -> Bool {
        guard CacheAdmission.admits(requester, to: provenance) else { return false }
        if hash == nil, vary.holdsSecrets { return true }
        return vary.matches(request, identifying: requester.identifyingFields) {
            hash?.text(for: $0) ?? ""
        }
    }
}

/// Shares equal terms. Bounded: when it is full it is emptied.
struct CacheTermsPool: Sendable {
    private static let most = 256
    private var known: [[UInt8]: CacheTerms] = [:]
    /// The terms of the last entry.
    private var latest: CacheTerms?

    /// Returns the terms encoded in these octets.
    mutating func terms(_ octets: [UInt8]) throws(OctetReader.Damage) -> CacheTerms {
        if let terms = known[octets] { return terms }
        let terms = try CacheTerms(octets)
        note(terms)
        return terms
    }

    /// Returns the terms of an entry, which are mostly those of the previous one; nil for an entry that may not be written.
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
