// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// The provided policies for retries, redirects and caching, given to a session or to one request.
@Suite struct PolicySnippets {
    struct SomeType: Decodable, Sendable {
        let url: String
    }

    @Test func aRetryPolicyIsGivenToASession() async throws {
        try await HTTPBin.serve { httpbin in
            let policy = RetryPolicy()
            let session = Session(interceptor: policy)

            let answers = ["503 Service Unavailable", "200 OK"].map {
                Script([.send("HTTP/1.1 \($0)\r\nContent-Length: 2\r\n\r\nok"), .close])
            }
            httpbin.origin.script("GET", "/flaky", ScriptPlan(answers))
            let request = session.request("\(httpbin)/flaky").validate()
            #expect(await request.serializingString().response.value == "ok")
            #expect(request.retryCount == 1)
        }
    }

    @Test func aRedirectorIsGivenToASession() async throws {
        try await HTTPBin.serve { httpbin in
            let redirector = Redirector(behavior: .follow)
            let session = Session(redirectHandler: redirector)

            let response = await session.request("\(httpbin)/redirect/1").serializingData().response
            #expect(response.response?.url?.absoluteString == "\(httpbin)/get")
        }
    }

    @Test func aCacherIsGivenToASession() async throws {
        try await HTTPBin.serve { httpbin in
            let cacher = ResponseCacher(behavior: .cache)
            let session = Session(cachedResponseHandler: cacher)

            #expect(await loads(session, "\(httpbin)/cache/3600") == 1)
        }
        try await HTTPBin.serve { httpbin in
            let session = Session(cachedResponseHandler: ResponseCacher(behavior: .doNotCache))
            #expect(await loads(session, "\(httpbin)/cache/3600") == 2)
        }
    }

    @Test func aRedirectorIsGivenToARequest() async throws {
        try await HTTPBin.serve { httpbin in
            let session = Session(redirectHandler: Redirector(behavior: .doNotFollow))
            let response: AFDataResponse<SomeType> = await handed { hand in
                let redirector = Redirector(behavior: .follow)
                session.request("\(httpbin)/redirect/1")
                    .redirect(using: redirector)
                    .responseDecodable(of: SomeType.self) { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(response.value?.url == "\(httpbin)/get")
        }
    }

    /// The guide calls it `Cacher`; its name is `ResponseCacher`.
    @Test func aCacherIsGivenToARequest() async throws {
        try await HTTPBin.serve { httpbin in
            let session = Session(cachedResponseHandler: ResponseCacher(behavior: .doNotCache))
            let response: AFDataResponse<SomeType> = await handed { hand in
                let cacher = ResponseCacher(behavior: .cache)
                session.request("\(httpbin)/cache/3600")
                    .cacheResponse(using: cacher)
                    .responseDecodable(of: SomeType.self) { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(response.value?.url == "\(httpbin)/cache/3600")
            _ = await session.request("\(httpbin)/cache/3600").serializingData().response
            #expect(httpbin.origin.counts.requests == 1)
        }
    }

    /// The three cases of the guide's declaration, in a switch without a default.
    @Test func aRedirectorBehavesInThreeWays() async throws {
        let behaviors: [Redirector.Behavior] = [
            .follow, .doNotFollow,
            .modify { _, request, response in
                var request = request
                request.headers.add(name: "X-Redirected", value: "by \(response.statusCode)")
                return request
            },
        ]
        for behavior in behaviors {
            let expected: (status: Int, header: String?)
            switch behavior {
            case .follow: expected = (200, nil)
            case .doNotFollow: expected = (302, nil)
            case .modify: expected = (200, "by 302")
            }
            try await HTTPBin.serve { httpbin in
                let response = await AF.request("\(httpbin)/redirect/1")
                    .redirect(using: Redirector(behavior: behavior))
                    .serializingDecodable(Echo.self).response
                #expect(response.response?.statusCode == expected.status)
                #expect(response.value?.headers["X-Redirected"] == expected.header)
            }
        }
    }

    @Test func aCacherBehavesInThreeWays() async throws {
        let behaviors: [ResponseCacher.Behavior] = [
            .cache, .doNotCache,
            .modify { _, response in
                CachedURLResponse(
                    response: response.response, data: Data("from the cache".utf8), userInfo: nil,
                    storagePolicy: .allowedInMemoryOnly)
            },
        ]
        for behavior in behaviors {
            let expected: (requests: Int, isChanged: Bool)
            switch behavior {
            case .cache: expected = (1, false)
            case .doNotCache: expected = (2, false)
            case .modify: expected = (1, true)
            }
            try await HTTPBin.serve { httpbin in
                let session = Session(cachedResponseHandler: ResponseCacher(behavior: behavior))
                _ = try await session.request("\(httpbin)/cache/3600").serializingString().value
                let second = try await session.request("\(httpbin)/cache/3600").serializingString().value
                #expect(httpbin.origin.counts.requests == expected.requests)
                #expect((second == "from the cache") == expected.isChanged)
            }
        }
    }

    /// Returns how many of two equal requests the server answers.
    private func loads(_ session: Session, _ url: String) async -> Int {
        let first = await session.request(url).serializingData().response
        let second = await session.request(url).serializingData().response
        let loads = [first, second].map { $0.metrics?.transactionMetrics.last?.resourceFetchType }
        return loads.count { $0 == .networkLoad }
    }
}
