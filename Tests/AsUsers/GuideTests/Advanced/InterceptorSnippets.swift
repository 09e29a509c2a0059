// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Adapters, retriers, and interceptors that combine several.
@Suite struct InterceptorSnippets {
    struct TokenAdapter: RequestAdapter {
        let accessToken: String

        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping (Result<URLRequest, Error>) -> Void
        ) {
            var urlRequest = urlRequest
            urlRequest.headers.add(.authorization(bearerToken: accessToken))

            completion(.success(urlRequest))
        }
    }

    /// The body of the guide's `retry`, in a class with the properties that it uses.
    final class BackoffRetrier: RequestRetrier {
        let retryLimit: UInt = 2
        let exponentialBackoffBase: UInt = 2
        let exponentialBackoffScale = 0.001
        let retryableHTTPMethods: Set<HTTPMethod> = [.get]

        func shouldRetry(response: HTTPURLResponse?, error: Error) -> Bool {
            response?.statusCode == 503 && error.asAFError?.isResponseValidationError == true
        }

        func retry(
            _ request: Request, for session: Session, dueTo error: Error,
            completion: @escaping (RetryResult) -> Void
        ) {
            if request.retryCount < retryLimit,
                let httpMethod = request.request?.method,
                retryableHTTPMethods.contains(httpMethod),
                shouldRetry(response: request.response, error: error)
            {
                let timeDelay =
                    pow(Double(exponentialBackoffBase), Double(request.retryCount)) * exponentialBackoffScale
                completion(.retryWithDelay(timeDelay))
            } else {
                completion(.doNotRetry)
            }
        }
    }

    /// The protocol's one function, called as the guide declares it.
    @Test func anAdapterHasOneFunction() async throws {
        let urlRequest = try URLRequest(url: "http://localhost", method: .get)
        let adapters: [RequestAdapter] = [TokenAdapter(accessToken: "a0")]
        let result: Result<URLRequest, Error> = await handed { hand in
            for adapter in adapters {
                adapter.adapt(
                    urlRequest, for: AF, completion: { (result: Result<URLRequest, Error>) in hand(result) })
            }
        }
        #expect(try result.get().headers["Authorization"] == "Bearer a0")
    }

    @Test func anAdapterAddsAToken() async throws {
        try await HTTPBin.serve { httpbin in
            let session = Session(interceptor: Interceptor(adapters: [TokenAdapter(accessToken: "a0")]))
            let response = await session.request("\(httpbin)/bearer").serializingString().response
            #expect(response.response?.statusCode == 200)
            #expect(response.value?.contains("a0") == true)
            #expect(response.request?.headers["Authorization"] == "Bearer a0")
        }
    }

    @Test func aRetrierHasOneFunction() async throws {
        let retriers: [RequestRetrier] = [BackoffRetrier()]
        let request = AF.request("http://localhost")
        let error: Error = AFError.explicitlyCancelled
        let result: RetryResult = await handed { hand in
            for retrier in retriers {
                retrier.retry(
                    request, for: AF, dueTo: error, completion: { (result: RetryResult) in hand(result) })
            }
        }
        guard case .doNotRetry = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func aRetrierHasFourAnswers() async throws {
        struct Refused: Error {}
        let name: @Sendable (RetryResult) -> String = { result in
            switch result {
            case .retry: "retry"
            case .retryWithDelay(let delay): "retry after \(delay)"
            case .doNotRetry: "no"
            case .doNotRetryWithError(let error): "no: \(error)"
            }
        }
        let answers: [(RetryResult, String, Int)] = [
            (.retry, "retry", 2), (.retryWithDelay(0.001), "retry after 0.001", 2), (.doNotRetry, "no", 1),
            (.doNotRetryWithError(Refused()), "no: Refused()", 1),
        ]
        for (answer, text, tasks) in answers {
            #expect(name(answer) == text)
            try await HTTPBin.serve { httpbin in
                let retrier = Retrier { request, _, _, completion in
                    completion(request.retryCount == 0 ? answer : .doNotRetry)
                }
                let request = AF.request("\(httpbin)/status/500", interceptor: retrier).validate()
                let error = await request.serializingData().response.error
                #expect(request.tasks.count == tasks, "\(text)")
                #expect(error?.isRequestRetryError == (text == "no: Refused()"), "\(text)")
            }
        }
    }

    @Test func aRetrierWaitsLongerEachTime() async throws {
        try await HTTPBin.serve { httpbin in
            let interceptor = Interceptor(retriers: [BackoffRetrier()])
            let request = AF.request("\(httpbin)/status/503", interceptor: interceptor).validate()
            #expect(await request.serializingData().response.error?.responseCode == 503)
            #expect(request.retryCount == 2)
            #expect(httpbin.origin.counts.requests == 3)
            let other = AF.request("\(httpbin)/status/404", interceptor: interceptor).validate()
            #expect(await other.serializingData().response.error?.responseCode == 404)
            #expect(other.retryCount == 0)
        }
    }

    @Test func interceptorsAreMadeOfSeveral() async throws {
        try await HTTPBin.serve { httpbin in
            let adapter = TokenAdapter(accessToken: "a0")
            let retrier = BackoffRetrier()
            let interceptor = Adapter { urlRequest, _, completion in
                // It runs after the adapter, and receives that one's request.
                var urlRequest = urlRequest
                urlRequest.headers.add(
                    name: "X-Seen", value: urlRequest.headers["Authorization"] ?? "nothing")
                completion(.success(urlRequest))
            }

            let adapterAndRetrier = Interceptor(adapter: adapter, retrier: retrier)
            let composite = Interceptor(interceptors: [adapterAndRetrier, interceptor])

            let request = AF.request("\(httpbin)/status/503", interceptor: composite).validate()
            #expect(await request.serializingData().response.error?.responseCode == 503)
            #expect(request.retryCount == 2)
            #expect(request.requests.last?.headers["X-Seen"] == "Bearer a0")
        }
    }
}
