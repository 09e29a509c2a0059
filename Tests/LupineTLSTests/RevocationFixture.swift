// SPDX-License-Identifier: MIT

import LupineTestKit
import Synchronization

@testable import LupineTLS

/// Answers from the fixtures' files, and counts who was asked.
final class FakeFetcher: RevocationFetcher {
    /// What there is at an address.
    enum Answer: Sendable {
        case file(String)
        case bytes(Int)
        case failure(RevocationFetchError)
    }

    private let answers: [String: Answer]
    private let asked = Mutex<[RevocationQuery]>([])

    /// The hosts of the addresses are left out.
    init(_ answers: [String: Answer]) { self.answers = answers }

    /// The queries so far.
    var queries: [RevocationQuery] { asked.withLock { $0 } }

    /// The last parts of the addresses asked so far.
    var places: [String] { queries.map { String($0.url.dropFirst("http://revocation.test/".count)) } }

    func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8] {
        asked.withLock { $0.append(query) }
        switch answers[String(query.url.dropFirst("http://revocation.test/".count))] {
        case .file(let name)?:
            do {
                return try PKI.bytes(name)
            } catch {
                throw .failed("no fixture \(name)")
            }
        case .bytes(let count)?: return [UInt8](repeating: 0, count: count)
        case .failure(let error)?: throw error
        case nil: throw .status(404)
        }
    }
}

/// The cache behind a lock, as the transport has it.
final class LockedCache: RevocationCaching {
    private let cache: Mutex<RevocationCache>

    init(_ cache: RevocationCache = RevocationCache()) { self.cache = Mutex(cache) }

    var count: Int { cache.withLock { $0.count } }

    func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer? {
        cache.withLock { $0.answer(for: key, at: time) }
    }

    func keep(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime) {
        cache.withLock { $0.keep(answer, for: key, at: time) }
    }
}

/// A status or a problem, for tables.
func brief(_ body: () throws(RevocationProblem) -> RevocationStatus) -> String {
    do throws(RevocationProblem) {
        switch try body() {
        case .good: return "good"
        case .revoked(let date, let reason): return "revoked \(date?.seconds ?? -1) \(reason ?? "-")"
        }
    } catch {
        return error.caseName
    }
}

extension RevocationProblem {
    /// The name of the case, with its number if it has one.
    var caseName: String {
        switch self {
        case .noSource: "noSource"
        case .notFetched: "notFetched"
        case .malformed: "malformed"
        case .responderRefused(let status): "responderRefused \(status)"
        case .badSignature: "badSignature"
        case .otherCertificate: "otherCertificate"
        case .outdated: "outdated"
        case .unknownCertificate: "unknownCertificate"
        case .tooLarge(let limit, _): "tooLarge \(limit)"
        case .unsupported: "unsupported"
        }
    }
}
