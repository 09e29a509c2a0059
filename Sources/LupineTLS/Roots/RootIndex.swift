// SPDX-License-Identifier: MIT

/// Trusted certificates by subject, in the order in which they were found.
///
/// All bytes are in memory once it is created: a lookup takes only CPU time, and later changes on the disk have no effect. May be
/// used on any thread.
package final class RootIndex: Sendable {
    private let entries: [RootEntry]
    /// The positions in `entries` by the hash of the subject.
    private let byHash: [UInt32: [Int]]
    /// The number of files that were read for it.
    let filesRead: Int

    /// Creates an index of these entries, without duplicates.
    init(_ entries: [RootEntry], filesRead: Int = 0) {
        var seenKeys: Set<RootEntry.DuplicateKey> = []
        var byHash: [UInt32: [Int]] = [:]
        seenKeys.reserveCapacity(entries.count)
        byHash.reserveCapacity(entries.count)
        let unique = entries.filter { entry in
            guard let key = entry.duplicateKey else { return true }
            return seenKeys.insert(key).inserted
        }
        for (index, entry) in unique.enumerated() { byHash[entry.hash, default: []].append(index) }
        self.entries = unique
        self.byHash = byHash
        self.filesRead = filesRead
    }

    /// Creates an index of parsed certificates.
    convenience init(_ certificates: [Certificate]) { self.init(certificates.map { RootEntry($0) }) }

    /// The number of certificates that were parsed on demand.
    var parsedCount: Int { entries.count { $0.isParsed } }

    /// Returns the certificates with this subject, in order.
    ///
    /// - Parameters:
    ///   - name: The subject.
    ///   - failure: Set to the error of a certificate with this subject that cannot be parsed.
    package func certificates(named name: OpenSSLName, failure: inout TrustRootsError?) -> [Certificate] {
        var found: [Certificate] = []
        for index in byHash[name.hash] ?? [] where entries[index].hasSubject(name) {
            do throws(TrustRootsError) {
                if let certificate = try entries[index].certificate() { found.append(certificate) }
            } catch { failure = error }
        }
        return found
    }

    /// All certificates that can be parsed.
    package var certificates: [Certificate] { entries.compactMap { (try? $0.certificate()) ?? nil } }
}
