// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Caching.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct CachingSnippets {
    @Test func aCache() async throws {
        try await inFolder { folder in
            try await API.serve { api in
                let configuration = URLSessionConfiguration.af.default
                configuration.urlCache = URLCache(
                    memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: folder)
                let session = Session(configuration: configuration)
                let first = await session.request("\(api)/cache/3600").serializingData().response
                let second = await session.request("\(api)/cache/3600").serializingData().response
                print(second.metrics?.transactionMetrics.last?.resourceFetchType == .localCache)
                #expect(first.value == second.value)
                #expect(api.origin.counts.requests == 1)
            }
        }
    }

    @Test func users() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.identifyingFields.insert("X-Tenant")
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)  // not on the page
            let session = Session(configuration: configuration)
            for tenant in ["a", "b", "a"] {
                let answer = await session.request("\(api)/cache/3600", headers: ["X-Tenant": tenant])
                    .serializingData().response
                #expect(answer.error == nil)
            }
            // The endpoint says `public`.
            #expect(api.origin.counts.requests == 1)
        }
    }

    @Test func handlers() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/cache/3600")
                .cacheResponse(using: .doNotCache)
                .serializingData()
                .response
            let anew = AF.request(
                "\(api)/cache/3600", requestModifier: { $0.cachePolicy = .reloadIgnoringLocalCacheData })
            #expect(response.error == nil)
            #expect(await anew.serializingData().response.error == nil)
            #expect(api.origin.counts.requests == 2)
        }
    }
}
