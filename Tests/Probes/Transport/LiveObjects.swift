// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import Synchronization

/// How many objects of OpenSSL there are in this process.
///
/// OpenSSL calls back for each object that it makes and frees, copies and its own included. That holds for objects made
/// after `watch`, so it has to come before the first. The tests of the engine, which run beside others in one process,
/// mark the objects that are theirs instead.
enum LiveObjects {
    /// What could be lost: whatever belongs to a connection, and what connections share.
    enum Kind: Int, CaseIterable {
        case connection, session, certificate, context, store, key, channel
    }

    private final class Counter: Sendable {
        let value = Atomic<Int>(0)
    }

    private static let counters = Kind.allCases.map { _ in Counter() }

    /// Counts from here on. To be called once.
    static func watch() throws {
        for kind in Kind.allCases {
            let index = unsafe CRYPTO_get_ex_new_index(
                number(of: kind), kind.rawValue, nil,
                { _, _, _, _, row, _ in LiveObjects.counters[row].value.add(1, ordering: .relaxed) }, nil,
                { _, _, _, _, row, _ in LiveObjects.counters[row].value.subtract(1, ordering: .relaxed) })
            guard index >= 0 else { throw Probe.Failure("no index for \(kind)") }
        }
    }

    /// How many of a kind there are now.
    static func count(_ kind: Kind) -> Int { counters[kind.rawValue].value.load(ordering: .relaxed) }

    /// How many of each kind there are now.
    static var counts: [Kind: Int] {
        Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, count($0)) })
    }

    private static func number(of kind: Kind) -> Int32 {
        switch kind {
        case .connection: CRYPTO_EX_INDEX_SSL
        case .session: CRYPTO_EX_INDEX_SSL_SESSION
        case .certificate: CRYPTO_EX_INDEX_X509
        case .context: CRYPTO_EX_INDEX_SSL_CTX
        case .store: CRYPTO_EX_INDEX_X509_STORE
        case .key: CRYPTO_EX_INDEX_EVP_PKEY
        case .channel: CRYPTO_EX_INDEX_BIO
        }
    }
}
