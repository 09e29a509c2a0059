// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// The snippets of `Interceptors.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct InterceptorSnippets {
    @Test func adapters() async throws {
        try await API.serve { api in
            let token = "secret"
            let session = Session(
                interceptor: .adapter { request, _, completion in
                    var request = request
                    request.headers.add(.authorization(bearerToken: token))
                    completion(.success(request))
                })
            let response = await session.request("\(api)/bearer").serializingData().response
            #expect(response.request?.headers["Authorization"] == "Bearer secret")
        }
    }
    /// Signs requests, and asks again once when the server says that it is busy.
    final class Signing: RequestInterceptor {
        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            var request = urlRequest
            request.headers.add(name: "X-Signature", value: "lupin")
            completion(.success(request))
        }

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            let isBusy = request.response?.statusCode == 503
            completion(isBusy && request.retryCount == 0 ? .retryWithDelay(0.05) : .doNotRetry)
        }
    }

    @Test func aType() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/status/503", interceptor: Signing())
                .validate()
                .serializingData()
                .response
            #expect(response.error?.responseCode == 503)
            #expect(api.origin.counts.requests == 2)
            #expect(response.request?.headers["X-Signature"] == "lupin")
        }
    }

    @Test func policies() async throws {
        try await API.serve { api in
            let policy = RetryPolicy(
                retryLimit: 3, exponentialBackoffScale: 0.01,
                timing: RetryPolicy.Timing(jitter: 0.5, honorsRetryAfter: true))
            let session = Session(
                interceptor: Interceptor(
                    adapters: [Adapter { request, _, completion in completion(.success(request)) }],
                    retriers: [policy], interceptors: [ConnectionLostRetryPolicy()]))
            let response = await session.request("\(api)/status/503").validate().serializingData().response
            #expect(response.error?.responseCode == 503)
            #expect(api.origin.counts.requests == 4)
        }
    }
}
