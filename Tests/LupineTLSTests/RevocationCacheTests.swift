// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

/// Tests of the cache's bounds and of the expiry of its entries.
@Suite struct RevocationCacheTests {
    private func answer(until: Int64, size: Int = 1) -> RevocationAnswer {
        RevocationAnswer(
            content: .status(.good), from: UnixTime(seconds: 100), until: UnixTime(seconds: until), size: size
        )
    }

    private func key(_ number: Int) -> RevocationKey {
        .failure(url: "http://revocation.test/\(number)", certificate: SHA256Digest.of([]))
    }

    @Test func answersAreReturnedWithinTheirValidity() {
        var cache = RevocationCache()
        cache.store(answer(until: 200), for: key(0), at: UnixTime(seconds: 100))
        for (time, isKnown) in [(Int64(99), false), (100, true), (200, true), (201, false)] {
            #expect((cache.answer(for: key(0), at: UnixTime(seconds: time)) != nil) == isKnown)
        }
        #expect(cache.answer(for: key(1), at: UnixTime(seconds: 150)) == nil)
    }

    @Test func theLeastRecentlyUsedIsEvictedFirst() {
        var cache = RevocationCache(entryLimit: 3)
        let now = UnixTime(seconds: 100)
        for number in 0..<3 { cache.store(answer(until: 200), for: key(number), at: now) }
        _ = cache.answer(for: key(0), at: now)
        cache.store(answer(until: 200), for: key(3), at: now)
        #expect(cache.count == 3)
        #expect((0..<4).map { cache.answer(for: key($0), at: now) != nil } == [true, false, true, true])
    }

    @Test func outdatedAnswersAreEvictedFirst() {
        var cache = RevocationCache(entryLimit: 2)
        cache.store(answer(until: 300), for: key(0), at: UnixTime(seconds: 100))
        cache.store(answer(until: 150), for: key(1), at: UnixTime(seconds: 100))
        cache.store(answer(until: 300), for: key(2), at: UnixTime(seconds: 200))
        let now = UnixTime(seconds: 200)
        #expect((0..<3).map { cache.answer(for: key($0), at: now) != nil } == [true, false, true])
    }

    @Test func bytesAreBounded() {
        var cache = RevocationCache(byteLimit: 10)
        let now = UnixTime(seconds: 100)
        cache.store(answer(until: 200, size: 6), for: key(0), at: now)
        cache.store(answer(until: 200, size: 4), for: key(1), at: now)
        #expect(cache.bytes == 10)
        cache.store(answer(until: 200, size: 5), for: key(2), at: now)
        #expect(cache.bytes == 9 && cache.count == 2)
        cache.store(answer(until: 200, size: 11), for: key(1), at: now)
        #expect(
            cache.bytes == 5 && cache.count == 1, "an answer over the byte limit only removes the older one")
        cache.store(answer(until: 200, size: 7), for: key(2), at: now)
        #expect(cache.bytes == 7 && cache.count == 1, "one answer replaces the other")
        cache.store(answer(until: 99), for: key(3), at: now)
        #expect(cache.count == 1, "an outdated answer is not cached")
    }
}
