// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import Testing

@testable import LupineTLS

@Suite struct TLSSessionCacheTests {
    private let now = UnixTime(seconds: 1000)

    /// Returns a session without a connection. Its expiry identifies it.
    private func session(_ singleUse: Bool, expires: Int64) throws -> TLSSession {
        TLSSession(
            handle: unsafe try #require(OpenSSLHandle<SessionObject>(owning: SSL_SESSION_new())),
            isSingleUse: singleUse, expirationTime: UnixTime(seconds: expires), certificates: [],
            stapledResponse: nil)
    }

    @Test func singleUseSessionsAreReturnedOnceNewestFirst() throws {
        var cache = TLSSessionCache<String>()
        for expires in Int64(2001)...2003 { cache.put(try session(true, expires: expires), for: "a") }
        #expect(cache.count == 3)
        for expires in [Int64(2003), 2002, 2001] {
            #expect(cache.take(for: "a", now: now)?.expirationTime.seconds == expires)
        }
        #expect(cache.take(for: "a", now: now) == nil)
        #expect(cache.count == 0)
    }

    @Test func otherSessionsAreReturnedUntilTheyExpire() throws {
        var cache = TLSSessionCache<String>()
        cache.put(try session(false, expires: 1500), for: "a")
        cache.put(try session(false, expires: 2000), for: "a")
        #expect(cache.count == 1)
        for _ in 0..<3 { #expect(cache.take(for: "a", now: now)?.expirationTime.seconds == 2000) }
        #expect(cache.take(for: "a", now: UnixTime(seconds: 1999)) != nil)
        #expect(cache.take(for: "a", now: UnixTime(seconds: 2000)) == nil)
        #expect(cache.count == 0)
    }

    @Test(arguments: [true, false]) func aSessionWithAnExpiredVerdictIsNotReturned(_ singleUse: Bool) throws {
        var cache = TLSSessionCache<String>()
        var expiring = try session(singleUse, expires: 2000)
        expiring.acceptedUntil = UnixTime(seconds: 1500)
        for (time, isReturned) in [(Int64(1499), true), (1500, false)] {
            cache.put(expiring, for: "a")
            #expect((cache.take(for: "a", now: UnixTime(seconds: time)) != nil) == isReturned)
        }
        #expect(cache.count == 0)
    }

    @Test func sessionsBelongToTheirKey() throws {
        var cache = TLSSessionCache<String>()
        cache.put(try session(true, expires: 2000), for: "a")
        #expect(cache.take(for: "b", now: now) == nil)
        #expect(cache.take(for: "a", now: now) != nil)
    }

    @Test func limitsPerKeyAndInTotal() throws {
        var cache = TLSSessionCache<Int>(limitPerKey: 2, capacity: 5)
        for expires in Int64(2001)...2003 { cache.put(try session(true, expires: expires), for: 0) }
        #expect(cache.count == 2)
        #expect(cache.take(for: 0, now: now)?.expirationTime.seconds == 2003)
        for key in 1...4 { cache.put(try session(true, expires: 3000), for: key) }
        #expect(cache.count == 5)
        cache.put(try session(true, expires: 3000), for: 5)
        #expect(cache.count <= 5)
        #expect(cache.take(for: 0, now: now) == nil)
        #expect(cache.take(for: 5, now: now) != nil)
        cache.removeAll(for: 4)
        #expect(cache.take(for: 4, now: now) == nil)
    }

    @Test func aCacheOfOneKeepsTheNewest() throws {
        var cache = TLSSessionCache<Int>(limitPerKey: 4, capacity: 1)
        cache.put(try session(true, expires: 2001), for: 0)
        cache.put(try session(true, expires: 2002), for: 0)
        #expect(cache.count == 1)
        #expect(cache.take(for: 0, now: now)?.expirationTime.seconds == 2002)
    }
}
