// SPDX-License-Identifier: MIT

import LupineTestKit
import Synchronization

@testable import LupineTLS

/// Answers from the fixtures' files and records the queries.
final class FakeFetcher: RevocationFetcher {
    /// The response of an address.
    enum Answer: Sendable {
        case file(String)
        case bytes(Int)
        case failure(RevocationFetchError)
    }

    private let answers: [String: Answer]
    private let asked = Mutex<[RevocationQuery]>([])

    /// Creates a fetcher with these responses, by the last parts of the addresses.
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
