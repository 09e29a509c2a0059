// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// Runs the code that was compiled in Swift 6 mode.
@Suite struct StrictUseTests {
    private func serve(_ body: @Sendable (LupineOrigin.Origin, String) async throws -> Void) async throws {
        let origin = try LupineOrigin.Origin.start(configuration: OriginConfiguration())
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin, "http://127.0.0.1:\(origin.port)")) } catch {
            result = .failure(error)
        }
        await origin.shutdown()
        try result.get()
    }

    @Test func twoTogether() async throws {
        try await serve { _, base in
            let items = try await together("\(base)/get", "\(base)/anything")
            #expect(items.map(\.url) == ["\(base)/get", "\(base)/anything"])
        }
    }

    @Test func aGroup() async throws {
        try await serve { _, base in
            let urls = (1...8).map { "\(base)/anything/\($0)" } + ["\(base)/status/404"]
            let results = await all(urls)
            #expect(results.count == 9)
            for (url, result) in results {
                switch result {
                case .success(let item): #expect(item.url == url)
                case .failure(let error): #expect(error.responseCode == 404 && url == urls.last)
                }
            }
        }
    }

    @Test func anActor() async throws {
        try await serve { origin, base in
            let cache = ItemCache()
            let first = try await cache.item(at: "\(base)/get")
            let second = try await cache.item(at: "\(base)/get")
            #expect(first == second)
            #expect(origin.counts.requests == 1)
        }
    }

    @Test @MainActor func aModelOfTheMainActor() async throws {
        let origin = try LupineOrigin.Origin.start(configuration: OriginConfiguration())
        let base = "http://127.0.0.1:\(origin.port)"
        let model = ItemModel()
        await withCheckedContinuation { continuation in
            model.load("\(base)/get") { continuation.resume() }
        }
        #expect(model.item == Item(url: "\(base)/get"))
        #expect(model.fractions.last == 1)
        await model.load("\(base)/html")
        #expect(model.error?.isResponseSerializationError == true)
        #expect(await model.progress(of: "\(base)/bytes/1000") == 1)
        await origin.shutdown()
    }

    @Test func whatIsKept() async throws {
        try await serve { _, base in
            let request = StrictUse.request("\(base)/get")
            let item = try await request.serializingDecodable(Item.self).value
            #expect(item.url == "\(base)/get?a=1")
            #expect(request.request?.headers["X-Kept"] == "yes")
            let failing = StrictUse.session.request("\(base)/status/500").validate()
            _ = await failing.serializingData().response
            #expect(failing.retryCount == 1)
        }
    }
}
