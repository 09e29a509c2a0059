// SPDX-License-Identifier: MIT

/// Trusted certificates by their subjects, in the order in which they were found.
///
/// All bytes are in memory when it has been made: a look-up is CPU time alone, and what changes on the disk later does not count. Any
/// thread.
package final class RootIndex: Sendable {
    private let entries: [RootEntry]
    private let byHash: [UInt32: [Int]]
    /// How many files have been read for it.
    let filesRead: Int

    /// An index of these, each kept once.
    init(_ entries: [RootEntry], filesRead: Int = 0) {
        var known: Set<RootEntry.Octets> = []
        var byHash: [UInt32: [Int]] = [:]
        known.reserveCapacity(entries.count)
        byHash.reserveCapacity(entries.count)
        let kept = entries.filter { $0.octets.map { known.insert($0).inserted } ?? true }
        for (index, entry) in kept.enumerated() { byHash[entry.hash, default: []].append(index) }
        self.entries = kept
        self.byHash = byHash
        self.filesRead = filesRead
    }

    /// An index of certificates that are there.
    convenience init(_ certificates: [Certificate]) { self.init(certificates.map { RootEntry($0) }) }

    /// How many of them have been parsed because somebody asked.
    var parsedCount: Int { entries.count { $0.isParsed } }

    /// The certificates with this subject, in their order.
    ///
    /// - Parameters:
    ///   - name: The subject.
    ///   - failure: Set to what is wrong with a certificate of that name that cannot be parsed.
    package func certificates(named name: OpenSSLName, failure: inout TrustRootsError?) -> [Certificate] {
        var found: [Certificate] = []
        for index in byHash[name.hash] ?? [] where entries[index].isNamed(name) {
            do throws(TrustRootsError) {
                if let certificate = try entries[index].certificate() { found.append(certificate) }
            } catch { failure = error }
        }
        return found
    }

    /// All certificates that can be parsed.
    package var certificates: [Certificate] { entries.compactMap { (try? $0.certificate()) ?? nil } }
}
