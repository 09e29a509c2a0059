// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import Synchronization

/// The number of OpenSSL objects in this process.
///
/// OpenSSL calls back for each object that it creates and frees, including copies and its own. That applies to objects created
/// after `watch`, which must therefore be called first. The tests of the engine, which run concurrently with others in one
/// process, mark their objects instead.
enum LiveObjects {
    /// Objects that could leak: those that belong to a connection, and those that connections share.
    enum Kind: Int, CaseIterable {
        case connection, session, certificate, context, store, key, channel
    }

    private final class Counter: Sendable {
        let value = Atomic<Int>(0)
    }

    private static let counters = Kind.allCases.map { _ in Counter() }

    /// Starts counting. Must be called only once.
    static func watch() throws {
        for kind in Kind.allCases {
            let index = unsafe CRYPTO_get_ex_new_index(
                number(of: kind), kind.rawValue, nil,
                { _, _, _, _, row, _ in LiveObjects.counters[row].value.add(1, ordering: .relaxed) }, nil,
                { _, _, _, _, row, _ in LiveObjects.counters[row].value.subtract(1, ordering: .relaxed) })
            guard index >= 0 else { throw Probe.Failure("no index for \(kind)") }
        }
    }

    /// Returns the present number of objects of a kind.
    static func count(_ kind: Kind) -> Int { counters[kind.rawValue].value.load(ordering: .relaxed) }

    /// The present number of objects of each kind.
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
