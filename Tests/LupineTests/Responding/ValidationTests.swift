// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// When validators run, and their results.
@Suite struct ValidationTests {
    /// Records the results of validators of any kind of request.
    final class ValidationRecorder: EventMonitor {
        let queue = DispatchQueue(label: "judgements")
        private let results = SeenValues<Bool>()

        func request(
            _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
            data: Data?, withResult result: Request.ValidationResult
        ) { note(result) }

        func request(
            _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
            fileURL: URL?, withResult result: Request.ValidationResult
        ) { note(result) }

        func request(
            _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?,
            response: HTTPURLResponse, withResult result: Request.ValidationResult
        ) { note(result) }

        private func note(_ result: Request.ValidationResult) {
            if case .success = result { results.note(true) } else { results.note(false) }
        }

        /// Returns the recorded results, including those of all events emitted so far.
        func all(_ session: Session) -> [Bool] {
            session.rootQueue.sync {}
            return queue.sync { results.all }
        }
    }

    let queue = DispatchQueue(label: "handlers")

    @Test(
        "[V-6.1] validators run in order before the serializer, and again on each retry",
        arguments: TestedHTTP.allCases)
    func order(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let seen = SeenValues<String>()
            let retrier = Retrier { request, _, _, completion in
                seen.note("retrier")
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            }
            let request = stage.request(404, body: "x", interceptor: Interceptor(retriers: [retrier]))
                .validate { _, _, data in
                    seen.note("first \(data?.count ?? 0)")
                    return .success(())
                }
                .validate { request, response, _ in
                    seen.note("second \(request?.httpMethod ?? "") \(response.statusCode)")
                    return .failure(ResponseTestError.first)
                }
            _ = await called { request.response(queue: queue, completionHandler: $0) }
            #expect(
                seen.all == [
                    "first 1", "second GET 404", "retrier", "first 1", "second GET 404", "retrier",
                ])
        }
    }

    @Test(
        "[V-6.2, V-12.6] validators do not run after the first failure, nor without a response",
        arguments: TestedHTTP.allCases)
    func silence(over testedHTTP: TestedHTTP) async throws {
        let recorder = ValidationRecorder()
        try await withResponding(monitors: [recorder], over: testedHTTP) { stage in
            let ran = SeenValues<Int>()
            let response = await called {
                stage.request(404, body: "x").validate { _, _, _ in
                    ran.note(1)
                    return .success(())
                }
                .validate { _, _, _ in
                    ran.note(2)
                    return .failure(ResponseTestError.first)
                }
                .validate { _, _, _ in
                    ran.note(3)
                    return .failure(ResponseTestError.second)
                }
                .validate()
                .response(queue: queue, completionHandler: $0)
            }
            #expect(ran.all == [1, 2])
            #expect(recorder.all(stage.session) == [true, false])
            #expect(response.error?.underlyingError as? ResponseTestError == .first)
            stage.origin.answer(nil, "/cut", ScriptPlan(.close))
            let cut = await called {
                stage.session.request(stage.url("/cut")).validate { _, _, _ in
                    ran.note(4)
                    return .failure(ResponseTestError.first)
                }
                .response(queue: queue, completionHandler: $0)
            }
            #expect(cut.error?.isSessionTaskError == true)
            let cancelled = await called {
                stage.request(body: "x", resumes: false).validate { _, _, _ in
                    ran.note(5)
                    return .failure(ResponseTestError.first)
                }
                .response(queue: queue, completionHandler: $0).cancel()
            }
            #expect(cancelled.error?.isExplicitlyCancelledError == true)
            #expect(ran.all == [1, 2])
            #expect(recorder.all(stage.session) == [true, false])
        }
    }

    @Test(
        "[V-6.3] a validator's AFError becomes the request's error, any other is wrapped",
        arguments: TestedHTTP.allCases
    )
    func errors(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let wrapped = await called {
                stage.request(body: "x").validate { _, _, _ in .failure(ResponseTestError.second) }
                    .response(queue: queue, completionHandler: $0)
            }
            guard case .customValidationFailed? = wrapped.error?.validationReason else {
                Issue.record("\(wrapped.result)")
                return
            }
            #expect(wrapped.error?.underlyingError as? ResponseTestError == .second)
            let kept = await called {
                stage.request(body: "x").validate { _, _, _ in .failure(AFError.sessionDeinitialized) }
                    .response(queue: queue, completionHandler: $0)
            }
            #expect(kept.error?.isSessionDeinitializedError == true)
        }
    }

    @Test("[V-6.4] without a validator any response is accepted", arguments: TestedHTTP.allCases)
    func none(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let response = await called {
                stage.request(404, type: "a/b", body: "x", accept: "c/d").responseString(
                    queue: queue, completionHandler: $0)
            }
            #expect(response.value == "x")
            #expect(response.response?.statusCode == 404)
        }
    }

    @Test("[V-6.5, V-6.6] the status is validated before the content type", arguments: TestedHTTP.allCases)
    func both(over testedHTTP: TestedHTTP) async throws {
        let recorder = ValidationRecorder()
        try await withResponding(monitors: [recorder], over: testedHTTP) { stage in
            let status = await called {
                stage.request(404, type: "a/b", body: "x", accept: "c/d").validate()
                    .response(queue: queue, completionHandler: $0)
            }
            #expect(status.error?.responseCode == 404)
            #expect(recorder.all(stage.session) == [false])
            let type = await called {
                stage.request(299, type: "a/b", body: "x", accept: "c/d").validate()
                    .response(queue: queue, completionHandler: $0)
            }
            #expect(type.error?.responseContentType == "a/b")
            #expect(type.error?.acceptableContentTypes == ["c/d"])
            #expect(recorder.all(stage.session) == [false, true, false])
            let order = await called {
                stage.request(404, type: "a/b", body: "x").validate(contentType: ["c/d"])
                    .validate(statusCode: 200..<300).response(queue: queue, completionHandler: $0)
            }
            #expect(order.error?.responseContentType == "a/b")
            let other = await called {
                stage.request(404, type: "a/b", body: "x").validate(statusCode: [404])
                    .validate(contentType: ["a/*"]).response(queue: queue, completionHandler: $0)
            }
            #expect(other.error == nil)
        }
    }

    @Test(
        "[V-6.7, V-12.9] the sent request's Accept header applies, not the session's headers",
        arguments: TestedHTTP.allCases)
    func accept(over testedHTTP: TestedHTTP) async throws {
        let judged = SeenValues<Int>()
        try await withResponding(headers: ["Accept": "c/d"], over: testedHTTP) { stage in
            let adapter = Adapter { request, _, completion in
                var request = request
                request.setValue("image/png, text/html", forHTTPHeaderField: "Accept")
                completion(.success(request))
            }
            let adapted = await called {
                stage.request(
                    type: "a/b", body: "x", accept: "a/b", interceptor: Interceptor(adapters: [adapter])
                )
                .validate().response(queue: queue, completionHandler: $0)
            }
            #expect(adapted.error?.acceptableContentTypes == [" text/html", "image/png"])
            let anything = await called {
                stage.request(type: "a/b", body: "x").validate().response(queue: queue, completionHandler: $0)
            }
            #expect(anything.error == nil)
            let types: @Sendable () -> [String] = {
                judged.note(judged.all.count)
                return ["c/d"]
            }
            let retrier = Retrier { request, _, _, completion in
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            }
            let request = stage.request(
                type: "a/b", body: "x", interceptor: Interceptor(retriers: [retrier])
            )
            .validate(contentType: types())
            #expect(judged.all.isEmpty, "not when it is added")
            let twice = await called { request.response(queue: queue, completionHandler: $0) }
            #expect(twice.error?.responseContentType == "a/b")
            #expect(judged.all == [0, 1])
        }
    }

    @Test(
        "[V-6.8, V-6.10, V-12.8] the content type of an empty response is validated only for streams",
        arguments: TestedHTTP.allCases)
    func emptiness(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let empty = await called {
                stage.request(type: "a/b", accept: "c/d").validate()
                    .response(queue: queue, completionHandler: $0)
            }
            #expect(empty.error == nil)
            let file = try stage.download(type: "a/b").validate(contentType: ["c/d"])
            let filed = await called { file.response(queue: queue, completionHandler: $0) }
            #expect(filed.error == nil)
            #expect(filed.fileURL != nil, "[V-6.9] an empty file")
            let stream = try stage.stream(stage.address(type: "a/b")).validate(contentType: ["c/d"])
            let ended = await Self.completion(of: stream, on: queue)
            #expect(ended.error?.responseContentType == "a/b")
            let untyped = await called {
                stage.request(body: "x").validate(contentType: ["c/d"])
                    .response(queue: queue, completionHandler: $0)
            }
            guard case .missingContentType(let types)? = untyped.error?.validationReason else {
                Issue.record("\(untyped.result)")
                return
            }
            #expect(types == ["c/d"])
        }
    }

    @Test("[V-6.9] a download's validation uses its file, and keeps it", arguments: TestedHTTP.allCases)
    func downloads(over testedHTTP: TestedHTTP) async throws {
        let recorder = ValidationRecorder()
        try await withResponding(monitors: [recorder], over: testedHTTP) { stage in
            let typed = try stage.download(type: "a/b", body: "x").validate(contentType: ["c/d"])
            let response = await called { typed.response(queue: queue, completionHandler: $0) }
            #expect(response.error?.responseContentType == "a/b")
            let place = try #require(response.fileURL)
            #expect(try Data(contentsOf: place) == Data("x".utf8))
            #expect(recorder.all(stage.session) == [false])
            let vanished = try stage.download(type: "a/b", body: "x").validate { _, _, file in
                if let file { try? FileManager.default.removeItem(at: file) }
                return .success(())
            }
            .validate()
            let gone = await called { vanished.response(queue: queue, completionHandler: $0) }
            guard case .dataFileReadFailed(let file)? = gone.error?.validationReason else {
                Issue.record("\(gone.result)")
                return
            }
            #expect(file == gone.fileURL)
            let status = try stage.download(404, body: "x").validate()
            let failed = await called { status.responseURL(queue: queue, completionHandler: $0) }
            #expect(failed.error?.responseCode == 404)
        }
    }

    @Test(
        "[V-6.2] a stream is validated when it has ended, with an event for each validator",
        arguments: TestedHTTP.allCases)
    func streams(over testedHTTP: TestedHTTP) async throws {
        let recorder = ValidationRecorder()
        try await withResponding(monitors: [recorder], over: testedHTTP) { stage in
            let good = try stage.stream(stage.address(type: "a/b", body: "x")).validate()
            #expect(await Self.completion(of: good, on: queue).error == nil)
            #expect(recorder.all(stage.session) == [true, true])
            let bad = try stage.stream(stage.address(500, body: "x")).validate()
            #expect(await Self.completion(of: bad, on: queue).error?.responseCode == 500)
            #expect(recorder.all(stage.session) == [true, true, false])
        }
    }

    @Test("[V-6.15] a response's type is compared in lower case", arguments: TestedHTTP.allCases)
    func capitals(over testedHTTP: TestedHTTP) async throws {
        try await withResponding(over: testedHTTP) { stage in
            let response = await called {
                stage.request(
                    type: "Application/JSON; Charset=UTF-8", body: "\"é\"", accept: "application/json"
                )
                .validate().responseString(queue: queue, completionHandler: $0)
            }
            #expect(response.value == "\"é\"")
        }
    }

    private static func completion(
        of stream: DataStreamRequest, on queue: DispatchQueue
    ) async -> DataStreamRequest.Completion {
        await called { done in
            stream.responseStream(on: queue) { if let completion = $0.completion { done(completion) } }
        }
    }
}
