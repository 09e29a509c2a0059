// SPDX-License-Identifier: MIT

/// Keeps answers about revocation for evaluations on any thread. `LupineTransport` puts a `RevocationCache` behind its lock.
package protocol RevocationCaching: Sendable {
    /// What is known at this time.
    func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer?
    /// Keeps an answer.
    func keep(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime)
}

/// What an answer is about.
package enum RevocationKey: Hashable, Sendable {
    /// One certificate under one issuer, by their SHA-256 fingerprints.
    case status(certificate: SHA256Digest, issuer: SHA256Digest)
    /// An issuer's list from one place.
    case list(url: String, issuer: SHA256Digest)
    /// One place that failed to answer.
    case failure(url: String, certificate: SHA256Digest)
}

/// An answer that has been verified, or how asking for one failed.
package struct RevocationAnswer: Sendable {
    enum Content: Sendable {
        case status(RevocationStatus)
        case list(RevocationList)
        case problem(RevocationProblem)
    }

    let content: Content
    /// From when on it may be used.
    let from: UnixTime
    /// Until when.
    let until: UnixTime
    /// What it weighs, in bytes.
    let size: Int
}

/// Verified answers until they are outdated, bounded in entries and bytes; the least recently used goes first.
///
/// A plain value: whoever shares one puts it behind a lock. A revocation list counts with the length of its DER.
package struct RevocationCache: Sendable {
    private struct Entry {
        let answer: RevocationAnswer
        var lastUse: UInt64
    }

    /// The most answers kept.
    package let entryLimit: Int
    /// The most bytes kept.
    package let byteLimit: Int
    private var entries: [RevocationKey: Entry] = [:]
    private var uses: UInt64 = 0
    /// The bytes kept.
    package private(set) var bytes = 0

    /// An empty cache.
    package init(entryLimit: Int = 1024, byteLimit: Int = 32 << 20) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
    }

    /// How many answers are kept.
    package var count: Int { entries.count }

    /// The answer that is valid at this time.
    package mutating func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer? {
        guard let entry = entries[key], entry.answer.from <= time, time <= entry.answer.until else {
            return nil
        }
        uses &+= 1
        entries[key]?.lastUse = uses
        return entry.answer
    }

    /// Keeps an answer in place of an older one; one that is larger than the whole cache is not kept.
    package mutating func keep(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime) {
        remove(key)
        guard answer.size <= byteLimit, entryLimit > 0, time <= answer.until else { return }
        if entries.count >= entryLimit || bytes + answer.size > byteLimit {
            for (key, entry) in entries where entry.answer.until < time { remove(key) }
        }
        while entries.count >= entryLimit || bytes + answer.size > byteLimit {
            guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else { break }
            remove(oldest)
        }
        uses &+= 1
        entries[key] = Entry(answer: answer, lastUse: uses)
        bytes += answer.size
    }

    private mutating func remove(_ key: RevocationKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        bytes -= entry.answer.size
    }
}
