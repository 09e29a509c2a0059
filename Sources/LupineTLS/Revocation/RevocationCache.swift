// SPDX-License-Identifier: MIT

/// Caches revocation answers for evaluations on any thread. `LupineTransport` implements it with a locked `RevocationCache`.
package protocol RevocationCaching: Sendable {
    /// Returns the answer that is valid at this time; nil for none.
    func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer?
    /// Stores an answer, unless it has expired at this time.
    func store(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime)
}

/// The key under which the cache stores an answer. Certificates are identified by their fingerprints.
package enum RevocationKey: Hashable, Sendable {
    /// The OCSP status of one certificate.
    case status(certificate: SHA256Digest, issuer: SHA256Digest)
    /// An issuer's list from one URL.
    case list(url: String, issuer: SHA256Digest)
    /// A failed query to one URL. `certificate` is the certificate whose OCSP status was queried, or the issuer whose list was
    /// queried.
    case failure(url: String, certificate: SHA256Digest)
}

/// A verified answer about revocation, or the failure of a query, for the cache.
package struct RevocationAnswer: Sendable {
    enum Content: Sendable {
        case status(RevocationStatus)
        case list(RevocationList)
        case problem(RevocationProblem)
    }

    let content: Content
    /// The start of its validity.
    let from: UnixTime
    /// The end of its validity.
    let until: UnixTime
    /// Its approximate size in memory, in bytes.
    let size: Int
}

/// Caches verified answers until they expire. Limited in entries and bytes; the least recently used answer is dropped first.
///
/// A value without a lock: threads share it behind a lock. A revocation list counts with its `memorySize`.
package struct RevocationCache: Sendable {
    private struct Entry {
        let answer: RevocationAnswer
        /// The value of `useCount` when the answer was last stored or returned.
        var lastUse: UInt64
    }

    /// The most answers in the cache.
    package let entryLimit: Int
    /// The most bytes in the cache.
    package let byteLimit: Int
    private var entries: [RevocationKey: Entry] = [:]
    /// The number of times that an answer was stored or returned so far. Serves as a clock for `Entry.lastUse`.
    private var useCount: UInt64 = 0
    /// The number of bytes in the cache.
    package private(set) var bytes = 0

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - entryLimit: The most answers in the cache.
    ///   - byteLimit: The most bytes in the cache.
    package init(entryLimit: Int = 1024, byteLimit: Int = 32 << 20) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
    }

    /// The number of answers in the cache.
    package var count: Int { entries.count }

    /// Returns the answer that is valid at this time; nil for none.
    package mutating func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer? {
        guard let entry = entries[key], entry.answer.from <= time, time <= entry.answer.until else {
            return nil
        }
        useCount &+= 1
        entries[key]?.lastUse = useCount
        return entry.answer
    }

    /// Stores an answer, replacing an older one. An answer that has expired, or is larger than the whole cache, is not stored.
    package mutating func store(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime) {
        remove(key)
        guard answer.size <= byteLimit, entryLimit > 0, time <= answer.until else { return }
        if !hasRoom(for: answer) {
            for (storedKey, entry) in entries where entry.answer.until < time { remove(storedKey) }
        }
        while !hasRoom(for: answer) {
            let leastRecent = entries.min { $0.value.lastUse < $1.value.lastUse }
            guard let leastRecent else { break }
            remove(leastRecent.key)
        }
        useCount &+= 1
        entries[key] = Entry(answer: answer, lastUse: useCount)
        bytes += answer.size
    }

    private func hasRoom(for answer: RevocationAnswer) -> Bool {
        entries.count < entryLimit && bytes + answer.size <= byteLimit
    }

    private mutating func remove(_ key: RevocationKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        bytes -= entry.answer.size
    }
}
