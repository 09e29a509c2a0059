// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The arguments of response handlers, and the order of their calls.
@Suite struct ResponseHandlerTests {
    /// A serializer that calls a closure, and records the errors that it was given.
    final class SpySerializer: ResponseSerializer {
        let errors = SeenValues<(any Error)?>()
        private let body: @Sendable (Int) throws -> Int

        /// Creates a serializer whose `body` is given the number of earlier calls.
        init(_ body: @escaping @Sendable (Int) throws -> Int) { self.body = body }

        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Int {
            let count = errors.all.count
            errors.note(error)
            if let error { throw error }
            return try body(count)
        }
    }

    let queue = DispatchQueue(label: "handlers")

    @Test(
        "[V-4.1] a handler without a serializer receives the content, even if it is empty",
        arguments: TestedHTTP.allCases)
    func plain(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let full = await called {
                stage.request(404, body: "gone").response(queue: queue, completionHandler: $0)
            }
            #expect(full.value == Data("gone".utf8))
            #expect(full.serializationDuration == 0)
            let empty = await called { stage.request().response(queue: queue, completionHandler: $0) }
            guard case .success(nil) = empty.result else {
                Issue.record("\(empty.result)")
                return
            }
            let failed = await called {
                stage.request(404, body: "gone").validate().response(queue: queue, completionHandler: $0)
            }
            #expect(failed.error?.responseCode == 404)
            #expect(failed.data == Data("gone".utf8))
            let download = try stage.download(404, body: "gone")
            let file = await called { download.response(queue: queue, completionHandler: $0) }
            let place = try #require(file.value ?? nil)
            #expect(try Data(contentsOf: place) == Data("gone".utf8))
            #expect(file.serializationDuration == 0)
        }
    }

    @Test(
        "[V-4.2, V-12.5] a serializer's error is the failure: an AFError unchanged, any other wrapped",
        arguments: TestedHTTP.allCases)
    func failures(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let wrapped = await called {
                stage.request(body: "x").response(
                    queue: queue, responseSerializer: SpySerializer { _ in throw ResponseTestError.first },
                    completionHandler: $0)
            }
            guard case .customSerializationFailed? = wrapped.error?.serializationReason else {
                Issue.record("\(wrapped.result)")
                return
            }
            #expect(wrapped.error?.underlyingError as? ResponseTestError == .first)
            let kept = await called {
                stage.request(body: "x").response(
                    queue: queue,
                    responseSerializer: SpySerializer { _ in throw AFError.sessionDeinitialized },
                    completionHandler: $0)
            }
            #expect(kept.error?.isSessionDeinitializedError == true)
            let preprocessed = await called {
                stage.request(body: "x").responseData(
                    queue: queue, dataPreprocessor: SpyPreprocessor(.failure(.second)), completionHandler: $0)
            }
            #expect(preprocessed.error?.underlyingError as? ResponseTestError == .second)
            let download = try stage.download(body: "x")
            let filed = await called {
                download.responseData(
                    queue: queue, dataPreprocessor: SpyPreprocessor(.failure(.second)), completionHandler: $0)
            }
            #expect(filed.error?.underlyingError as? ResponseTestError == .second)
        }
    }

    @Test("[V-4.2] the duration is the serializer's", arguments: TestedHTTP.allCases)
    func duration(over testedHTTP: TestedHTTP) async throws {
        let inside = SeenValues<Duration>()
        try await withResponding(over: testedHTTP) { stage in
            let start = ContinuousClock.now
            let response = await called {
                stage.request(body: "x").response(
                    queue: queue,
                    responseSerializer: SpySerializer { _ in
                        let start = ContinuousClock.now
                        let sum = (0..<10_000).reduce(0) { $0 ^ $1 }
                        inside.note(ContinuousClock.now - start)
                        return sum
                    }, completionHandler: $0)
            }
            let outside = ContinuousClock.now - start
            let least = try #require(inside.all.first)
            #expect(.seconds(response.serializationDuration) >= least - .microseconds(1))
            #expect(.seconds(response.serializationDuration) <= outside)
        }
    }

    @Test(
        "[V-4.3] the request's error is passed to the serializer, which throws it",
        arguments: TestedHTTP.allCases
    )
    func requestError(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let serializer = SpySerializer { _ in 1 }
            let response = await called {
                stage.request(500, body: "x").validate().response(
                    queue: queue, responseSerializer: serializer, completionHandler: $0)
            }
            #expect(serializer.errors.all.count == 1)
            #expect((serializer.errors.all.first as? AFError)?.responseCode == 500)
            #expect(response.error?.responseCode == 500)
            let cancelled = await called {
                stage.request(body: "x", resumes: false).responseData(queue: queue, completionHandler: $0)
                    .cancel()
            }
            #expect(cancelled.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test(
        "[V-4.4] a failed serializer consults the retrier, and handlers wait for its decision",
        arguments: TestedHTTP.allCases)
    func retries(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let handled = SeenValues<String>()
            let serializer = SpySerializer { count in
                if count == 0 { throw ResponseTestError.first }
                return count
            }
            let retrier = Retrier { request, _, _, completion in
                #expect(handled.all.isEmpty)
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            }
            let request = stage.request(
                body: "x", interceptor: Interceptor(retriers: [retrier]), resumes: false)
            let response = await called { done in
                request.responseString(queue: queue) { handled.note("first \($0.value ?? "")") }
                    .response(queue: queue, responseSerializer: serializer) {
                        handled.note("second \($0.value ?? 0)")
                        done($0)
                    }
                    .resume()
            }
            #expect(response.value == 1)
            #expect(handled.all == ["first x", "second 1"])
            #expect(request.retryCount == 1)
        }
    }

    @Test(
        "[V-4.4] doNotRetry keeps the response's failure, doNotRetryWithError replaces it",
        arguments: TestedHTTP.allCases)
    func refusals(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            for answer in [RetryResult.doNotRetry, .doNotRetryWithError(ResponseTestError.second)] {
                let retrier = Retrier { _, _, _, completion in completion(answer) }
                let response = await called {
                    stage.request(body: "x", interceptor: Interceptor(retriers: [retrier])).response(
                        queue: queue,
                        responseSerializer: SpySerializer { _ in throw ResponseTestError.first },
                        completionHandler: $0)
                }
                #expect(response.data == Data("x".utf8))
                if case .doNotRetry = answer {
                    #expect(response.error?.underlyingError as? ResponseTestError == .first)
                    continue
                }
                guard case .requestRetryFailed(let retryError, let original)? = response.error else {
                    Issue.record("\(response.result)")
                    continue
                }
                #expect(retryError as? ResponseTestError == .second)
                #expect((original as? AFError)?.underlyingError as? ResponseTestError == .first)
            }
        }
    }

    @Test(
        "[V-4.5] handlers are called in order, when all serializers have run", arguments: TestedHTTP.allCases)
    func order(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let seen = SeenValues<String>()
            // The request is not resumed yet: a pass that had begun would call its handlers without waiting for those that are
            // added later.
            let request = stage.request(body: "x", resumes: false)
            _ = await called { (done: @escaping @Sendable (Bool) -> Void) in
                for number in 1...3 {
                    let serializer = SpySerializer { _ in
                        seen.note("serializer \(number)")
                        return number
                    }
                    request.response(queue: queue, responseSerializer: serializer) { response in
                        seen.note("handler \(response.value ?? 0)")
                        if number == 3 { done(true) }
                    }
                }
                request.resume()
            }
            #expect(
                seen.all == [
                    "serializer 1", "serializer 2", "serializer 3", "handler 1", "handler 2", "handler 3",
                ])
        }
    }

    @Test(
        "[V-4.2] every handler of a data request receives its value", arguments: ["{\"name\":\"Ann\"}"],
        TestedHTTP.allCases)
    func requestForms(body: String, over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let request = stage.request(type: "application/json; charset=utf-8", body: body).validate()
            let data = await called { request.responseData(queue: queue, completionHandler: $0) }
            #expect(data.value == Data(body.utf8))
            let text = await called { request.responseString(queue: queue, completionHandler: $0) }
            #expect(text.value == body)
            let decoded = await called {
                request.responseDecodable(of: [String: String].self, queue: queue, completionHandler: $0)
            }
            #expect(decoded.value == ["name": "Ann"])
            let short = await called {
                request.response(queue: queue, responseSerializer: .string, completionHandler: $0)
            }
            #expect(short.value == body)
        }
    }

    @Test(
        "[V-4.2] every handler of a download receives its value", arguments: ["{\"name\":\"Ann\"}"],
        TestedHTTP.allCases)
    func downloadForms(body: String, over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let request = try stage.download(type: "application/json; charset=utf-8", body: body).validate()
            let place = await called { request.responseURL(queue: queue, completionHandler: $0) }
            #expect(place.value != nil)
            #expect(place.value == place.fileURL)
            let data = await called { request.responseData(queue: queue, completionHandler: $0) }
            #expect(data.value == Data(body.utf8))
            let text = await called { request.responseString(queue: queue, completionHandler: $0) }
            #expect(text.value == body)
            let decoded = await called {
                request.responseDecodable(of: [String: String].self, queue: queue, completionHandler: $0)
            }
            #expect(decoded.value == ["name": "Ann"])
            let short = await called {
                request.response(queue: queue, responseSerializer: .url, completionHandler: $0)
            }
            #expect(short.value == place.value)
        }
    }

    @Test("[V-4.2] a property list is decoded with its decoder", arguments: TestedHTTP.allCases)
    func propertyList(over testedHTTP: TestedHTTP) async throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        let body = String(decoding: try encoder.encode(["name": "Bo"]), as: UTF8.self)
        try await withResponding(over: testedHTTP) { stage in
            let response = await called {
                stage.request(type: "application/x-plist", body: body).responseDecodable(
                    of: [String: String].self, queue: queue, decoder: PropertyListDecoder(),
                    completionHandler: $0)
            }
            #expect(response.value == ["name": "Bo"])
        }
    }

    @Test("[V-3.7] responses to HEAD and with status 204 become empty values", arguments: TestedHTTP.allCases)
    func emptyResponses(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let head = await called {
                stage.request(type: "text/plain", body: "x", method: .head).responseDecodable(
                    of: Empty.self, queue: queue, completionHandler: $0)
            }
            #expect(head.value == Empty.value)
            let none = await called { stage.request(204).responseString(queue: queue, completionHandler: $0) }
            #expect(none.value == "")
            let refused = await called { stage.request().responseData(queue: queue, completionHandler: $0) }
            guard case .inputDataNilOrZeroLength? = refused.error?.serializationReason else {
                Issue.record("\(refused.result)")
                return
            }
        }
    }
}
