// SPDX-License-Identifier: MIT

import LupineTestKit
import Synchronization

@testable import LupineTLS

/// Answers revocation queries from the fixtures' files, and records the queries.
final class FakeFetcher: RevocationFetcher {
    /// The response for a URL.
    enum Answer: Sendable {
        /// The content of a fixture's file.
        case file(String)
        /// That many zero octets.
        case bytes(Int)
        case failure(RevocationFetchError)
    }

    private let answers: [String: Answer]
    private let recorded = Mutex<[RevocationQuery]>([])

    /// Creates a fetcher with these responses, by the paths of the URLs. For other paths it fails with status 404.
    init(_ answers: [String: Answer]) { self.answers = answers }

    /// The queries so far.
    var queries: [RevocationQuery] { recorded.withLock { $0 } }

    /// The paths of the URLs queried so far.
    var requestedPaths: [String] { queries.map { String($0.url.dropFirst("http://revocation.test/".count)) } }

    func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8] {
        recorded.withLock { $0.append(query) }
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
