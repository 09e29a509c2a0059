// SPDX-License-Identifier: MIT

/// Trusted certificates, which can be looked up by subject. Certificates of the same subject keep the order of their files.
///
/// All bytes are in memory: a lookup takes only CPU time, and later changes on the disk have no effect. May be used on any
/// thread.
package final class RootIndex: Sendable {
    private let entries: [RootEntry]
    /// The positions in `entries`, by the hash of the subject.
    private let positionsByHash: [UInt32: [Int]]
    /// The number of files that the entries were read from.
    let filesRead: Int

    /// Creates an index of these entries, of which it drops duplicates.
    init(_ entries: [RootEntry], filesRead: Int = 0) {
        var seenKeys: Set<RootEntry.DuplicateKey> = []
        var positionsByHash: [UInt32: [Int]] = [:]
        seenKeys.reserveCapacity(entries.count)
        positionsByHash.reserveCapacity(entries.count)
        let uniqueEntries = entries.filter { entry in
            // Nil for a certificate that was already parsed; it is kept without a comparison.
            guard let key = entry.duplicateKey else { return true }
            return seenKeys.insert(key).inserted
        }
        for (position, entry) in uniqueEntries.enumerated() {
            positionsByHash[entry.hash, default: []].append(position)
        }
        self.entries = uniqueEntries
        self.positionsByHash = positionsByHash
        self.filesRead = filesRead
    }

    /// Creates an index of parsed certificates.
    convenience init(_ certificates: [Certificate]) { self.init(certificates.map { RootEntry($0) }) }

    /// The number of certificates that were parsed on demand.
    var parsedCount: Int { entries.count { $0.isParsedOnDemand } }

    /// Returns the certificates with this subject, in order.
    ///
    /// - Parameters:
    ///   - name: The subject.
    ///   - failure: Set to the error of a certificate with this subject that cannot be parsed; otherwise unchanged.
    package func certificates(named name: OpenSSLName, failure: inout TrustRootsError?) -> [Certificate] {
        var certificates: [Certificate] = []
        for position in positionsByHash[name.hash] ?? [] where entries[position].hasSubject(name) {
            do throws(TrustRootsError) {
                if let certificate = try entries[position].certificate() { certificates.append(certificate) }
            } catch { failure = error }
        }
        return certificates
    }

    /// All certificates, without those that cannot be parsed. Parses all entries.
    package var certificates: [Certificate] { entries.compactMap { (try? $0.certificate()) ?? nil } }
}
