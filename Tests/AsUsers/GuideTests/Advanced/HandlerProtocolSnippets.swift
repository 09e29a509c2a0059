// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The protocols that decide about caching, redirects and trust, each adopted as the guide declares it.
@Suite struct HandlerProtocolSnippets {
    struct Marking: CachedResponseHandler {
        func dataTask(
            _ task: URLSessionDataTask,
            willCacheResponse response: CachedURLResponse,
            completion: @escaping (CachedURLResponse?) -> Void
        ) {
            completion(
                CachedURLResponse(
                    response: response.response, data: Data("from the cache".utf8), userInfo: nil,
                    storagePolicy: .allowedInMemoryOnly))
        }
    }

    struct Halting: RedirectHandler {
        func task(
            _ task: URLSessionTask,
            willBeRedirectedTo request: URLRequest,
            for response: HTTPURLResponse,
            completion: @escaping (URLRequest?) -> Void
        ) {
            completion(nil)
        }
    }

    struct Refusing: ServerTrustEvaluating {
        struct Reason: Error {}

        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            throw Reason()
        }
    }

    struct Accepting: ServerTrustEvaluating {
        func evaluate(_ trust: SecTrust, forHost host: String) throws {}
    }

    final class CustomServerTrustManager: ServerTrustManager, @unchecked Sendable {
        override func serverTrustEvaluator(forHost host: String) -> ServerTrustEvaluating? {
            var policy: ServerTrustEvaluating?

            // Implement your custom domain matching behavior...
            policy = evaluators.first { host.hasSuffix($0.key) }?.value

            return policy
        }
    }

    @Test func aHandlerChangesWhatIsCached() async throws {
        try await HTTPBin.serve { httpbin in
            let configuration = URLSessionConfiguration.af.default
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let session = Session(configuration: configuration, cachedResponseHandler: Marking())
            let first = try await session.request("\(httpbin)/cache/3600").serializingString().value
            let second = try await session.request("\(httpbin)/cache/3600").serializingString().value
            #expect(first != second)
            #expect(second == "from the cache")
        }
    }

    @Test func aHandlerStopsARedirect() async throws {
        try await HTTPBin.serve { httpbin in
            let stopped = await AF.request("\(httpbin)/redirect/1").redirect(using: Halting())
                .serializingData().response
            #expect(stopped.response?.statusCode == 302)
            let followed = await AF.request("\(httpbin)/redirect/1").serializingData().response
            #expect(followed.response?.url?.absoluteString == "\(httpbin)/get")
        }
    }

    @Test func anEvaluatorJudgesAServer() async throws {
        try await HTTPBin.serve(isSecure: true) { httpbin in
            let evaluators: [(ServerTrustEvaluating, Bool)] = [(Refusing(), false), (Accepting(), true)]
            for (evaluator, isTrusted) in evaluators {
                let manager = ServerTrustManager(evaluators: ["127.0.0.1": evaluator])
                let session = Session(serverTrustManager: manager)
                let response = await session.request("\(httpbin)/get").serializingData().response
                #expect(response.response?.statusCode == (isTrusted ? 200 : nil))
                #expect(response.error?.isServerTrustEvaluationError == (isTrusted ? nil : true))
                #expect(response.error?.underlyingError is Refusing.Reason == !isTrusted)
            }
            let session = Session(serverTrustManager: ServerTrustManager(evaluators: [:]))
            let response = await session.request("\(httpbin)/get").serializingData().response
            #expect(response.error?.isServerTrustEvaluationError == true)
        }
    }

    /// The guide's `ServerTrustPolicyManager` has been called `ServerTrustManager` since Alamofire 5.
    @Test func aManagerCanBeSubclassed() {
        let manager = CustomServerTrustManager(evaluators: ["example.com": Refusing()])
        #expect(manager.serverTrustEvaluator(forHost: "any.example.com") is Refusing)
        #expect(manager.serverTrustEvaluator(forHost: "example.org") == nil)
    }
}
