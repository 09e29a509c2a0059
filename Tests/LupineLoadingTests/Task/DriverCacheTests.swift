// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

@Suite(.timeLimit(.minutes(10)))
struct DriverCacheTests {
    static let fresh: [(String, String)] = [("Cache-Control", "max-age=1000"), ("ETag", "\"v1\"")]
    static let stale: [(String, String)] = [
        ("Cache-Control", "max-age=0"), ("ETag", "W/\"v1\""),
        ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ]

    static func cache() -> URLCache { URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }

    static func context(
        _ script: HopScript, _ cache: URLCache?, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> SessionContext {
        DriverLoad.context(
            script,
            DriverLoad.configuration {
                $0.urlCache = cache
                change($0)
            })
    }

    /// Returns a cache that a load has filled.
    static func filled(_ fields: [(String, String)], _ text: String = "stored") async throws -> URLCache {
        let cache = cache()
        let script = HopScript([.status(200, fields, text)])
        _ = await DriverLoad(try DriverLoad.request(), script, context: context(script, cache)).run()
        return cache
    }

    typealias Outcome = (hops: Int, text: String, code: URLError.Code?)

    static let policies: [(policy: URLRequest.CachePolicy, fresh: Outcome, stale: Outcome, none: Outcome)] = [
        (.useProtocolCachePolicy, (0, "stored", nil), (1, "loaded", nil), (1, "loaded", nil)),
        (.reloadIgnoringLocalCacheData, (1, "loaded", nil), (1, "loaded", nil), (1, "loaded", nil)),
        (.reloadIgnoringLocalAndRemoteCacheData, (1, "loaded", nil), (1, "loaded", nil), (1, "loaded", nil)),
        (.returnCacheDataElseLoad, (0, "stored", nil), (0, "stored", nil), (1, "loaded", nil)),
        (.returnCacheDataDontLoad, (0, "stored", nil), (0, "stored", nil), (0, "", .resourceUnavailable)),
        (.reloadRevalidatingCacheData, (1, "loaded", nil), (1, "loaded", nil), (1, "loaded", nil)),
    ]

    @Test("[U-12.11, U-12.12] each cache policy with a stored response", arguments: policies)
    func eachCachePolicy(policy: URLRequest.CachePolicy, fresh: Outcome, stale: Outcome, none: Outcome)
        async throws
    {
        for (summary, fields, expected) in [
            ("fresh", Self.fresh, fresh), ("stale", Self.stale, stale), ("none", [], none),
        ] {
            for isConfigured in [false, true] {
                let cache = summary == "none" ? Self.cache() : try await Self.filled(fields)
                let script = HopScript([.status(200, Self.fresh, "loaded")])
                let context = Self.context(script, cache) {
                    if isConfigured { $0.requestCachePolicy = policy }
                }
                var request = try DriverLoad.request()
                if !isConfigured { request.cachePolicy = policy }
                let load = DriverLoad(request, script, context: context)
                #expect(!load.client.isCalled { load.driver.start() })
                let notes = await load.ended()
                #expect(script.hops.count == expected.hops, "\(summary)")
                #expect(String(decoding: notes.data, as: UTF8.self) == expected.text, "\(summary)")
                #expect(
                    notes.error?.code == expected.code && (notes.responses.isEmpty == (expected.code != nil)))
                guard expected.hops == 1 else { continue }
                // The loaded response is stored.
                #expect(cache.cachedResponse(for: request)?.data == Data("loaded".utf8))
                let sent = try #require(script.sent.first)
                let isPast = policy == .reloadIgnoringLocalAndRemoteCacheData
                #expect(sent.value(forHTTPHeaderField: "Cache-Control") == (isPast ? "no-cache" : nil))
                #expect(sent.value(forHTTPHeaderField: "Pragma") == (isPast ? "no-cache" : nil))
            }
        }
    }

    @Test(
        "[U-12.13, U-19.2] a 304: the stored response is delivered with updated fields, in two transactions")
    func notModified() async throws {
        let cache = try await Self.filled(Self.stale)
        let script = HopScript([
            .status(304, [("Cache-Control", "public, max-age=500"), ("X-New", "n"), ("Set-Cookie", "c=1")])
        ])
        let context = Self.context(script, cache)
        let load = DriverLoad(try DriverLoad.request(), script, context: context)
        let notes = await load.run()
        let sent = try #require(script.sent.first)
        #expect(sent.value(forHTTPHeaderField: "If-None-Match") == "W/\"v1\"")
        #expect(sent.value(forHTTPHeaderField: "If-Modified-Since") == "Sun, 06 Nov 1994 08:49:37 GMT")
        let response = try #require(HTTPURLResponse.of(notes))
        #expect(response.statusCode == 200 && notes.data == Data("stored".utf8))
        #expect(response.value(forHTTPHeaderField: "Cache-Control") == "public, max-age=500")
        #expect(response.value(forHTTPHeaderField: "X-New") == "n")
        #expect(!notes.log.contains("caches"))
        let fetched = notes.metrics?.transactionMetrics.map(\.resourceFetchType)
        #expect(fetched == [.networkLoad, .localCache])
        #expect(context.settings.cookieStorage?.cookies?.map(\.name) == ["c"])
        // The response is fresh again: the next request needs no network.
        let secondScript = HopScript([.status(500)])
        let next = await DriverLoad(
            try DriverLoad.request(), secondScript, context: Self.context(secondScript, cache)
        )
        .run()
        #expect(secondScript.hops.isEmpty && next.data == Data("stored".utf8))
        #expect(next.metrics?.transactionMetrics.map(\.resourceFetchType) == [.localCache])
    }

    @Test(
        "a response in memory is delivered synchronously to a client that only queues, unless it is a subclass"
    )
    func deliveredSynchronously() async throws {
        typealias Own = CacheEntryFormatTests.OwnResponse
        for (defersCallbacks, isOwn) in [(true, false), (false, false), (true, true)] {
            let cache = try await Self.filled(Self.fresh)
            let request = try DriverLoad.request()
            if isOwn {
                let url = try #require(request.url)
                let own = try #require(
                    Own(
                        url: url, statusCode: 200, httpVersion: nil,
                        headerFields: Dictionary(uniqueKeysWithValues: Self.fresh)))
                cache.storeCachedResponse(
                    CachedURLResponse(response: own, data: Data("stored".utf8)), for: request)
            }
            let script = HopScript([])
            let context = Self.context(script, cache)
            let load = DriverLoad(request, script, context: context, .init(defersCallbacks: defersCallbacks))
            let isInside = load.client.isCalled { load.driver.start() }
            #expect(isInside == (defersCallbacks && !isOwn), "\(defersCallbacks) \(isOwn)")
            let notes = await load.ended()
            #expect(notes.data == Data("stored".utf8) && notes.failure == nil && notes.ends == 1)
            #expect(notes.metrics?.transactionMetrics.map(\.resourceFetchType) == [.localCache])
            #expect(notes.responses.first is Own == isOwn)
        }
    }

    @Test("a synchronous delivery that is cancelled during it ends once")
    func cancelledInPlace() async throws {
        let cache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0)
        let whole = HopScript([.status(200, Self.fresh, String(repeating: "a", count: 200_000))])
        _ = await DriverLoad(try DriverLoad.request(), whole, context: Self.context(whole, cache)).run()
        let script = HopScript([])
        let driver = Lock<TaskDriver?>(nil)
        let answers = RecordingClient.Answers(
            received: { _ in
                driver.withLock { $0 }?.cancel(URLError(.cancelled))
                return .more
            }, defersCallbacks: true)
        let load = DriverLoad(try DriverLoad.request(), script, context: Self.context(script, cache), answers)
        driver.withLock { $0 = load.driver }
        load.driver.start()
        let notes = await load.ended()
        #expect(notes.ends == 1 && notes.error?.code == .cancelled)
        #expect((1..<200_000).contains(notes.data.count))
        driver.withLock { $0 = nil }
    }

    @Test(
        "a suspended load gets its response from memory when it is resumed; a cancelled one does not"
    )
    func heldInPlace() async throws {
        let cache = try await Self.filled(Self.fresh)
        let script = HopScript([])
        let load = DriverLoad(
            try DriverLoad.request(), script, context: Self.context(script, cache),
            .init(defersCallbacks: true))
        load.driver.setSuspended(true)
        load.driver.start()
        #expect(load.client.notes.data.isEmpty && load.client.notes.ends == 0)
        load.driver.setSuspended(false)
        #expect(await load.ended().data == Data("stored".utf8))
        let other = DriverLoad(
            try DriverLoad.request(), script, context: Self.context(script, cache),
            .init(defersCallbacks: true))
        other.driver.cancel(URLError(.cancelled))
        other.driver.start()
        let notes = await other.ended()
        #expect(notes.error?.code == .cancelled && notes.responses.isEmpty && notes.ends == 1)
    }

    @Test("[U-12.5, U-12.11] a response that only the disk has is delivered, or replaced")
    func onTheDisk() async throws {
        let stage = CacheStage()
        let script = HopScript([.status(200, Self.fresh, "stored")])
        let cache = stage.cache(memory: 0)
        _ = await DriverLoad(try DriverLoad.request(), script, context: Self.context(script, cache)).run()
        await cache.flush()
        let none = HopScript([.status(500)])
        for defersCallbacks in [false, true] {
            let isOnStorage = Lock(false)
            let answers = RecordingClient.Answers(
                received: { _ in
                    isOnStorage.withLock { $0 = StorageQueue.isCurrent }
                    return .more
                }, defersCallbacks: defersCallbacks)
            let stored = await DriverLoad(
                try DriverLoad.request(), none, context: Self.context(none, cache), answers
            ).run()
            #expect(stored.data == Data("stored".utf8) && none.hops.isEmpty)
            #expect(!isOnStorage.withLock { $0 }, "others wait for that queue")
        }
        var request = try DriverLoad.request()
        request.cachePolicy = .reloadRevalidatingCacheData
        let answer = await DriverLoad(request, none, context: Self.context(none, cache)).run()
        #expect(HTTPURLResponse.of(answer)?.statusCode == 500)
        #expect(none.sent.first?.value(forHTTPHeaderField: "If-None-Match") == "\"v1\"")
        await cache.flush()
        #expect(stage.entries.isEmpty)
    }

    @Test("[U-12.13] another response replaces the stored one; a failure does not")
    func revalidationFails() async throws {
        let cache = try await Self.filled(Self.stale)
        let lost = HopScript([.failure(.networkConnectionLost)])
        let failed = await DriverLoad(try DriverLoad.request(), lost, context: Self.context(lost, cache))
            .run()
        #expect(failed.error?.code == .networkConnectionLost && failed.responses.isEmpty)
        let broken = HopScript([.status(503, [], "down")])
        let unavailable = await DriverLoad(
            try DriverLoad.request(), broken, context: Self.context(broken, cache)
        ).run()
        #expect(HTTPURLResponse.of(unavailable)?.statusCode == 503 && unavailable.data == Data("down".utf8))
        #expect(cache.cachedResponse(for: try DriverLoad.request()) == nil)
    }

    // Computed each time: LeakSanitizer does not see long content that a constant holds.
    static var superseding: [(summary: String, answers: [ScriptedAnswer], isKept: Bool)] {
        [
            ("not to be stored", [.status(200, [("Cache-Control", "no-store")], "x")], false),
            ("another status", [.status(404, [], "x")], false),
            ("known to be too long", [.status(200, [("Content-Length", "60000")])], false),
            ("too long", [.status(200, [], String(repeating: "x", count: 60_000))], false),
            ("a challenge without an answer", [DriverChallengeTests.challenging], false),
            ("a redirect that is followed", [.redirect("/b"), .status(200, [], "x")], true),
            ("no answer", [.failure(.networkConnectionLost)], true),
        ]
    }

    @Test(
        "[U-12.13] a response that is not stored removes the earlier one",
        arguments: superseding)
    func superseded(summary: String, answers: [ScriptedAnswer], isKept: Bool) async throws {
        for (fields, policy) in [
            (Self.stale, URLRequest.CachePolicy.useProtocolCachePolicy),
            (Self.fresh, .reloadIgnoringLocalCacheData), (Self.fresh, .reloadRevalidatingCacheData),
        ] {
            let cache = try await Self.filled(fields)
            let script = HopScript(answers)
            var request = try DriverLoad.request()
            request.cachePolicy = policy
            _ = await DriverLoad(request, script, context: Self.context(script, cache)).run()
            let kept = cache.cachedResponse(for: try DriverLoad.request())?.data
            #expect(kept == (isKept ? Data("stored".utf8) : nil), "\(policy)")
        }
    }

    @Test("[U-12.13] a download whose revalidation gets a new response invalidates the stored one")
    func supersededByDownload() async throws {
        let cache = try await Self.filled(Self.stale)
        let script = HopScript([.status(200, Self.fresh, "new")])
        _ = await DriverLoad(
            try DriverLoad.request(), kind: .download, script, context: Self.context(script, cache)
        ).run()
        #expect(cache.cachedResponse(for: try DriverLoad.request()) == nil)
    }

    @Test(
        "[U-12.14] a request with the caller's condition bypasses the cache",
        arguments: [
            "If-None-Match", "If-Modified-Since", "Range", "If-Range", "If-Match", "If-Unmodified-Since",
        ])
    func callersConditions(name: String) async throws {
        let cache = try await Self.filled(Self.fresh)
        let script = HopScript([.status(304)])
        let request = try DriverLoad.request("http://h/a", "GET", [name: "x"])
        let notes = await DriverLoad(request, script, context: Self.context(script, cache)).run()
        #expect(HTTPURLResponse.of(notes)?.statusCode == 304 && notes.data.isEmpty && script.hops.count == 1)
        #expect(cache.cachedResponse(for: try DriverLoad.request())?.data == Data("stored".utf8))
    }

    static var unstored:
        [(summary: String, kind: TaskDefinition.Kind, method: String, answer: ScriptedAnswer)]
    {
        [
            ("[U-12.7] a download", .download, "GET", .status(200, fresh, "x")),
            ("[U-12.7] POST", .data, "POST", .status(200, fresh, "x")),
            ("[U-12.7] HEAD", .data, "HEAD", .status(200, fresh)),
            ("[U-12.4] 404", .data, "GET", .status(404, fresh, "x")),
            ("[U-12.7] 206", .data, "GET", .status(206, fresh, "x")),
            ("[U-12.4] no-store", .data, "GET", .status(200, [("Cache-Control", "no-store")], "x")),
            ("[U-12.4] any field may matter", .data, "GET", .status(200, [("Vary", "*")], "x")),
            (
                "[U-12.7] a body that breaks off", .data, "GET",
                ScriptedAnswer(body: [Data("x".utf8)], error: URLError(.networkConnectionLost))
            ),
            (
                "[U-12.3] too long, with a Content-Length", .data, "GET",
                ScriptedAnswer(fields: [("Content-Length", "60000")], body: [Data(count: 60_000)])
            ),
            (
                "[U-12.3] too long", .data, "GET",
                ScriptedAnswer(body: [Data(count: 30_000), Data(count: 30_000)])
            ),
            (
                "[U-12.3] the source forbids it", .data, "GET",
                ScriptedAnswer(body: [Data("x".utf8)], policy: .notAllowed)
            ),
        ]
    }

    @Test(arguments: unstored)
    func responsesThatAreNotStored(
        summary: String, kind: TaskDefinition.Kind, method: String, answer: ScriptedAnswer
    )
        async throws
    {
        let cache = Self.cache()
        let script = HopScript([answer])
        let request = try DriverLoad.request("http://h/a", method)
        let notes = await DriverLoad(request, kind: kind, script, context: Self.context(script, cache)).run()
        #expect(!notes.log.contains("caches"), "\(summary)")
        #expect(cache.cachedResponse(for: try DriverLoad.request()) == nil, "\(summary)")
        #expect(notes.data.count == answer.body.reduce(0) { $0 + $1.count }, "\(summary)")
    }

    @Test("[U-12.4] content that the client refused is not stored")
    func unwanted() async throws {
        var enough = RecordingClient.Answers()
        enough.received = { _ in .enough }
        var skip = RecordingClient.Answers()
        skip.plan = { _ in .skip }
        for answers in [enough, skip] {
            let cache = Self.cache()
            let script = HopScript([.status(200, Self.fresh, "x")])
            let notes = await DriverLoad(
                try DriverLoad.request(), script, context: Self.context(script, cache), answers
            )
            .run()
            #expect(!notes.log.contains("caches") && notes.error == nil)
        }
    }

    @Test(
        "[U-12.6, U-12.3] the program's changes of the proposed response are stored before the end",
        arguments: [false, true])
    func proposals(isSlow: Bool) async throws {
        let request = try DriverLoad.request()
        let other = CachedURLResponse(
            response: URLResponse(
                url: try #require(request.url), mimeType: nil, expectedContentLength: 1, textEncodingName: nil
            ),
            data: Data("other".utf8), userInfo: ["k": "v"], storagePolicy: .allowedInMemoryOnly)
        let rows: [(answer: @Sendable (CachedURLResponse) -> CachedURLResponse??, stored: String?)] = [
            ({ .some($0) }, "x"), ({ _ in .some(nil) }, nil), ({ _ in .some(other) }, "other"),
        ]
        for row in rows {
            let cache = Self.cache()
            let script = HopScript([.status(203, [], "x")])
            var answers = RecordingClient.Answers()
            answers.caches = row.answer
            answers.isSlow = isSlow
            let notes = await DriverLoad(request, script, context: Self.context(script, cache), answers).run()
            #expect(notes.log == ["sends", "response 203", "data", "caches", "end"])
            #expect(notes.offers.first?.storagePolicy == .allowed && notes.offers.first?.userInfo == nil)
            #expect(cache.cachedResponse(for: request)?.data == row.stored.map { Data($0.utf8) })
        }
    }

    @Test("[U-12.6, U-5.10] the end waits for the reply to the proposal; after a cancel nothing is stored")
    func unansweredProposal() async throws {
        let cache = Self.cache()
        let script = HopScript([.status(200, [], "x")])
        var answers = RecordingClient.Answers()
        answers.caches = { _ in nil }
        let load = DriverLoad(try DriverLoad.request(), script, context: Self.context(script, cache), answers)
        load.driver.start()
        await load.client.wait(for: "caches")
        #expect(load.client.notes.ends == 0)
        load.driver.cancel(URLError(.cancelled))
        let notes = await load.ended()
        #expect(notes.error?.code == .cancelled)
        load.client.takeCacheReplies().first?(notes.offers.first)
        #expect(cache.cachedResponse(for: try DriverLoad.request()) == nil)
    }

    @Test(
        "[U-12.8] an unsafe method invalidates its URL, and those of the same origin that the response names"
    )
    func unsafeRequests() async throws {
        let rows: [(summary: String, method: String, status: Int, fields: [(String, String)], isKept: Bool)] =
            [
                ("POST", "POST", 200, [], false), ("PUT", "PUT", 204, [], false),
                ("a redirect", "DELETE", 303, [], false),
                ("POST that failed", "POST", 500, [], true), ("HEAD", "HEAD", 200, [], true),
            ]
        for row in rows {
            let cache = try await Self.filled(Self.fresh)
            let script = HopScript([.status(row.status, row.fields)])
            var request = try DriverLoad.request("http://h/a", row.method)
            request.cachePolicy = .reloadIgnoringLocalCacheData
            _ = await DriverLoad(request, script, context: Self.context(script, cache)).run()
            #expect(
                (cache.cachedResponse(for: try DriverLoad.request()) != nil) == row.isKept, "\(row.summary)")
        }
        let cache = try await Self.filled(Self.fresh)
        let script = HopScript([.status(201, [("Location", "/a")])])
        _ = await DriverLoad(
            try DriverLoad.request("http://h/other", "POST"), script, context: Self.context(script, cache)
        ).run()
        #expect(cache.cachedResponse(for: try DriverLoad.request()) == nil)
    }

    @Test("[U-12.5] a response to an identified user is for that user only")
    func authorized() async throws {
        let cache = Self.cache()
        for (who, hops, text) in [("a", 1, "1"), ("a", 0, "1"), ("b", 1, "2"), (nil, 1, "3")] {
            let script = HopScript([.status(200, Self.fresh, text)])
            var request = try DriverLoad.request()
            request.setValue(who, forHTTPHeaderField: "Authorization")
            let notes = await DriverLoad(request, script, context: Self.context(script, cache)).run()
            #expect(script.hops.count == hops && notes.data == Data(text.utf8), "\(who ?? "nobody")")
        }
    }

    @Test(
        "[U-12.15, U-7.2] a cached response is delivered in pieces, as fast as the client accepts them, also while suspended"
    )
    func pieces() async throws {
        let cache = URLCache(memoryCapacity: 8 << 20, diskCapacity: 0)
        let request = try DriverLoad.request()
        let whole = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let fields = [("Cache-Control", "public, max-age=1000"), ("Set-Cookie", "c=1")]
        let first = HopScript([ScriptedAnswer(fields: fields, body: [whole])])
        _ = await DriverLoad(request, first, context: Self.context(first, cache)).run()

        let script = HopScript([.status(500)])
        var answers = RecordingClient.Answers()
        answers.received = { _ in .pause }
        let context = Self.context(script, cache)
        let load = DriverLoad(request, script, context: context, answers)
        load.driver.start()
        await load.client.wait(for: "data")
        load.driver.setSuspended(true)
        load.driver.resumeReading()
        #expect(load.client.notes.ends == 0)
        load.driver.setSuspended(false)
        while load.client.notes.ends == 0 {
            load.driver.resumeReading()
            await Task.yield()
        }
        let notes = await load.ended()
        #expect(notes.data == whole && notes.pieces == [65_536, 65_536, 65_536, 3_392])
        #expect(script.hops.isEmpty && notes.error == nil && !notes.log.contains("caches"))
        #expect(notes.log.prefix(2) == ["sends", "response 200"])
        // Its cookies were stored when it came over the network, and are not stored again.
        #expect(context.settings.cookieStorage?.cookies?.isEmpty == true)
        let metrics = try #require(notes.metrics?.transactionMetrics.first)
        #expect(metrics.resourceFetchType == .localCache && metrics.networkProtocolName == nil)
        #expect(metrics.countOfResponseBodyBytesAfterDecoding == 200_000)
    }

    @Test("[U-5.3] a cancellation while pieces of a cached response wait")
    func cancelledWhileAnswering() async throws {
        let cache = try await Self.filled(Self.fresh)
        var answers = RecordingClient.Answers()
        answers.plan = { _ in .pause }
        let script = HopScript([])
        let load = DriverLoad(try DriverLoad.request(), script, context: Self.context(script, cache), answers)
        load.driver.start()
        await load.client.wait(for: "response 200")
        load.driver.cancel(URLError(.cancelled))
        let notes = await load.ended()
        #expect(notes.error?.code == .cancelled && notes.data.isEmpty)
        #expect(notes.metrics?.transactionMetrics.map(\.resourceFetchType) == [.localCache])
    }

    @Test("[U-12.11] without a cache, returnCacheDataDontLoad fails")
    func noCache() async throws {
        var request = try DriverLoad.request()
        request.cachePolicy = .returnCacheDataDontLoad
        let script = HopScript([.status(200)])
        let notes = await DriverLoad(request, script, context: Self.context(script, nil)).run()
        #expect(notes.error?.code == .resourceUnavailable && script.hops.isEmpty)
    }

    @Test(
        "[U-12.14] without a cache a request's cache directives are sent, whoever set them",
        arguments: [false, true])
    func wordsWithoutACache(isSessions: Bool) async throws {
        let rows: [(URLRequest.CachePolicy, String?, isSent: Bool, isPast: Bool)] = [
            (.useProtocolCachePolicy, nil, true, false), (.reloadIgnoringLocalCacheData, nil, true, false),
            (.useProtocolCachePolicy, "only-if-cached", false, false),
            (.reloadIgnoringLocalCacheData, "only-if-cached", false, false),
            (.useProtocolCachePolicy, "no-store", true, false),
            (.reloadIgnoringLocalAndRemoteCacheData, nil, true, true),
            (.returnCacheDataElseLoad, nil, true, false), (.returnCacheDataDontLoad, nil, false, false),
        ]
        for (policy, words, isSent, isPast) in rows {
            let script = HopScript([.status(200)])
            let context = Self.context(script, nil) {
                $0.requestCachePolicy = policy
                var fields = ["X-Own": "1"]
                if isSessions { fields["Cache-Control"] = words }
                $0.httpAdditionalHeaders = fields
            }
            var request = try DriverLoad.request()
            if !isSessions { request.setValue(words, forHTTPHeaderField: "Cache-Control") }
            let notes = await DriverLoad(request, script, context: context).run()
            #expect(script.hops.count == (isSent ? 1 : 0), "\(policy) \(words ?? "")")
            #expect(notes.error?.code == (isSent ? nil : .resourceUnavailable), "\(policy) \(words ?? "")")
            guard let sent = script.sent.first else { continue }
            #expect(sent.value(forHTTPHeaderField: "X-Own") == "1")
            #expect(sent.value(forHTTPHeaderField: "Cache-Control") == (isPast ? "no-cache" : words))
        }
    }
}
