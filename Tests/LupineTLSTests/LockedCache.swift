// SPDX-License-Identifier: MIT

import Synchronization

@testable import LupineTLS

/// A revocation cache behind a lock, as in the transport.
final class LockedCache: RevocationCaching {
    private let cache: Mutex<RevocationCache>

    init(_ cache: RevocationCache = RevocationCache()) { self.cache = Mutex(cache) }

    var count: Int { cache.withLock { $0.count } }

    func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer? {
        cache.withLock { $0.answer(for: key, at: time) }
    }

    func store(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime) {
        cache.withLock { $0.store(answer, for: key, at: time) }
    }
}
