// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Tests when, how often and in which order response handlers are called, and which objects are retained until then.
struct RequestHandlerTests {
    // MARK: automatic resumption

    @Test(
        "[R-20, R-21, R-22] the request, else the session, decides whether a handler starts the request",
        arguments: TestedHTTP.allCases)
    func automaticResumption(over testedHTTP: TestedHTTP) async throws {
        for (ofSession, ofRequest, starts) in [
            (true, nil, true), (false, nil, false), (true, false, false), (false, true, true),
        ] as [(Bool, Bool?, Bool)] {
            try await withPipeline(PipelineSetUp(startsImmediately: ofSession), over: testedHTTP) { stage in
                let ended = ValueLog<String>()
                let request = stage.get(resumes: ofRequest).response { ended.add(brief($0.error)) }
                await stage.settle()
                #expect(request.isInitialized == !starts)
                if !starts {
                    #expect(stage.events.isEmpty)
                    request.resume()
                }
                #expect(await ended.wait(for: 1) == ["nil"])
            }
        }
    }

    @Test(
        "[R-22, S-13, S-28] a request without handlers is not started and not converted",
        arguments: TestedHTTP.allCases)
    func nothingStarts(over testedHTTP: TestedHTTP) async throws {
        let converted = Protected(false)
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.session.request(
                stage.url(), requestModifier: { _ in converted.write(true) })
            await stage.settle()
            #expect(request.isInitialized && !converted.read { $0 } && stage.events.isEmpty)
            #expect(stage.session.mutableState.read { $0.activeRequests.isEmpty })
            #expect(request.description == "No request created yet.")
        }
    }

    @Test(
        "[R-21] a handler resumes a suspended request, but not a cancelled one",
        arguments: TestedHTTP.allCases)
    func suspendedAndCancelled(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            #expect(await stage.get().suspend().answered().error == nil)
            let ended = ValueLog<String>()
            let queue = DispatchQueue(label: "handler")
            // When the request is suspended or cancelled, the resumption by the handler is still pending.
            let rootQueue = stage.session.rootQueue
            rootQueue.suspend()
            stage.get().response(queue: queue) { ended.add(brief($0.error)) }.suspend()
            rootQueue.resume()
            #expect(await ended.wait(for: 1) == ["nil"])
            rootQueue.suspend()
            stage.get().response(queue: queue) { ended.add(brief($0.error)) }.cancel()
            rootQueue.resume()
            #expect(await ended.wait(for: 2).last == "explicit")
        }
    }

    // MARK: the pass

    @Test(
        "[R-42, R-43] all handlers are called after all serializers have run, in order",
        arguments: TestedHTTP.allCases)
    func order(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(
            PipelineSetUp(serializationQueue: DispatchQueue(label: "s", attributes: .concurrent)),
            over: testedHTTP
        ) {
            stage in
            let seen = ValueLog<String>()
            let queue = DispatchQueue(label: "handlers")
            let request = stage.get(resumes: false)
            for index in 0..<10 {
                request.response(
                    queue: queue,
                    responseSerializer: ClosureSerializer { _ in
                        seen.add("run \(index)")
                        return "\(index)"
                    }
                ) { seen.add("handler \($0.value ?? "none")") }
            }
            request.resume()
            #expect(
                await seen.wait(for: 20)
                    == (0..<10).map { "run \($0)" } + (0..<10).map { "handler \($0)" })
        }
    }

    @Test(
        "[R-42] a handler that is added while serializers run is called in the same pass",
        arguments: TestedHTTP.allCases)
    func addedDuringPass(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let seen = ValueLog<String>()
            let queue = DispatchQueue(label: "handlers")
            let request = stage.get()
            request.response(
                queue: queue,
                responseSerializer: ClosureSerializer { [unowned request] _ in
                    request.response(queue: queue) { _ in seen.add("second") }
                    return "done"
                }
            ) { _ in seen.add("first") }
            #expect(await seen.wait(for: 2) == ["first", "second"])
            await stage.settle()
            #expect(stage.recorder.count("r17") == 1)
        }
    }

    @Test(
        "[R-40, R-41, R-36] a request that is finished repeatedly calls its handlers once, with the first error",
        arguments: TestedHTTP.allCases)
    func finishedOften(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.held()
            let ended = ValueLog<String>()
            let queue = DispatchQueue(label: "handlers")
            request.response(queue: queue) { ended.add(brief($0.error)) }
                .response(queue: queue) { ended.add(brief($0.error)) }
            await stage.waitForRequest()
            stage.session.rootQueue.async {
                for _ in 0..<100 { request.finish(error: .sessionDeinitialized) }
                request.finish(error: .explicitlyCancelled)
            }
            #expect(await ended.wait(for: 2) == ["deinitialized", "deinitialized"])
            stage.sendResponse()
            await stage.recorder.heard.wait(untilRecorded: "r15")
            await stage.settle()
            #expect(ended.all.count == 2 && stage.recorder.count("r17") == 1 && request.isFinished)
        }
    }

    @Test(
        "[R-44, O-5] a handler sees the finished state, and afterwards the session no longer retains the request",
        arguments: TestedHTTP.allCases)
    func insideHandler(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let session = stage.session
            let seen = ValueLog<String>()
            let request = stage.get()
            request.response(queue: session.rootQueue) { [unowned request] _ in
                seen.add("\(request.state)")
                session.rootQueue.async {
                    let state = session.mutableState.read { $0 }
                    seen.add(
                        "\(state.activeRequests.isEmpty) \(state.requestTaskMap.isEmpty) \(state.waitingCompletions.isEmpty)"
                    )
                }
            }
            #expect(await seen.wait(for: 2) == ["finished", "true true true"])
        }
    }

    @Test(
        "[O-2, O-3, O-4, O-5] the session retains a request while it runs, and not afterwards",
        arguments: TestedHTTP.allCases)
    func lifetime(over testedHTTP: TestedHTTP) async throws {
        final class Witness: Sendable {}
        try await withPipeline(PipelineSetUp(interceptor: Retrier { $3(.doNotRetry) }), over: testedHTTP) {
            stage in
            for path in ["/get", "/status/404", "/held"] {
                weak var weakRequest: DataRequest?
                weak var weakWitness: Witness?
                let ended = ValueLog<String>()
                do {
                    let witness = Witness()
                    let request = path == "/held" ? stage.held() : stage.get(path)
                    (weakRequest, weakWitness) = (request, witness)
                    request.validate().validate { _, _, _ in
                        withExtendedLifetime(witness) { .success(()) }
                    }
                    .onURLRequestCreation { _ in _ = witness }
                    .response(queue: DispatchQueue(label: "h")) { _ in
                        withExtendedLifetime(witness) { ended.add("ended") }
                    }
                }
                if path == "/held" {
                    await stage.waitForRequest()
                    #expect(weakRequest != nil)
                    weakRequest?.cancel()
                }
                await ended.wait(for: 1)
                // Objects that a request retains are released after the request.
                while weakRequest != nil || weakWitness != nil { await stage.settle() }
            }
            // This request was never performed, so only its creator retains it.
            weak let unperformed = stage.get(resumes: false)
            #expect(unperformed == nil)
        }
    }

    // MARK: after the end

    @Test(
        "[R-45] handlers that are added in handlers, or to cancelled requests, are called with the present result",
        arguments: TestedHTTP.allCases
    )
    func lateHandlers(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let queue = DispatchQueue(label: "handlers")
            let seen = ValueLog<String>()
            let request = stage.get()
            request.response(queue: queue) { [unowned request] _ in
                seen.add("first")
                request.response(queue: queue) { [unowned request] response in
                    seen.add("second \(response.data?.isEmpty == false)")
                    request.responseData(queue: queue) { _ in seen.add("third") }
                }
            }
            #expect(await seen.wait(for: 3) == ["first", "second true", "third"])
            await stage.settle()
            #expect(request.isFinished && stage.recorder.count("r1") == 1 && stage.recorder.count("r17") == 1)

            let cancelled = stage.get(resumes: false).cancel()
            for _ in 0..<3 { #expect(brief(await cancelled.answered().error) == "explicit") }
            #expect(cancelled.isCancelled)
        }
    }

    @Test(
        "[R-45, DR-10] validators that are added after the end are not called", arguments: TestedHTTP.allCases
    )
    func lateValidator(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/status/404")
            #expect(await request.answered().error == nil)
            #expect(await request.validate().answered().error == nil)
            await stage.settle()
            #expect(stage.recorder.count("d1") == 0)
        }
    }

    @Test(
        "[R-48, R-49] finish handlers are called once, and at once after the end, also for cancelled requests",
        arguments: TestedHTTP.allCases
    )
    func finishHandlers(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            for cancels in [false, true] {
                let request = stage.get(resumes: false)
                let seen = ValueLog<String>()
                request.onFinish { seen.add("early") }
                #expect(seen.all.isEmpty)
                if cancels { request.cancel() } else { request.resume() }
                #expect(await seen.wait(for: 1) == ["early"])
                await stage.settle()
                request.onFinish { seen.add("late") }
                #expect(seen.all == ["early", "late"])
                _ = await request.answered()
                await stage.settle()
                #expect(seen.all == ["early", "late"])
            }
        }
    }

    // MARK: responses

    @Test(
        "[DR-6, DR-7, I-1.19, R-47] a handler without a serializer gets request, response and metrics",
        arguments: TestedHTTP.allCases
    )
    func plainResponse(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor()
        try await withPipeline(over: testedHTTP) { stage in
            let response = await stage.get("/status/404", interceptor: interceptor).answered()
            #expect(response.error == nil && response.response?.statusCode == 404)
            #expect(response.request?.url?.path == "/status/404" && response.metrics != nil)
            #expect(response.serializationDuration == 0)
            let failed = await stage.get("/status/404", interceptor: interceptor).validate().answered()
            #expect(brief(failed.error) == "status 404")
            // The retrier is asked once for the task, and not again for the handler.
            #expect(interceptor.errors == ["status 404"])
        }
    }

    @Test(
        "[DR-7] a serializer's `AFError` is used unchanged, another error is wrapped",
        arguments: TestedHTTP.allCases)
    func serializerErrors(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let seen = ValueLog<String>()
            for error in [AFError.explicitlyCancelled, BriefError("no")] as [any Error] {
                stage.get().response(responseSerializer: ClosureSerializer { _ in throw error }) {
                    seen.add("\(brief($0.error)) \($0.serializationDuration >= 0)")
                }
            }
            #expect(Set(await seen.wait(for: 2)) == ["explicit true", "custom no true"])
        }
    }

    @Test(
        "[DR-1, DR-3, R-61] content is collected, and one `Progress` object reaches its total",
        arguments: TestedHTTP.allCases)
    func dataAndProgress(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let queue = DispatchQueue(label: "progress")
            let seen = ValueLog<(Int64, Int64, Bool)>()
            let replaced = ValueLog<String>()
            let request = stage.get("/bytes/100000", resumes: false)
            request.downloadProgress(queue: queue) { _ in replaced.add("first handler") }
            let progress = request.downloadProgress
            request.downloadProgress(queue: queue) {
                seen.add(($0.completedUnitCount, $0.totalUnitCount, $0 === progress))
            }
            request.resume()
            #expect(await request.answered(on: queue).data?.count == 100_000)
            let last = try #require(seen.all.last)
            #expect(last.0 == 100_000 && last.1 == 100_000 && seen.all.allSatisfy { $0.2 })
            #expect(zip(seen.all, seen.all.dropFirst()).allSatisfy { $0.0 <= $1.0 })
            #expect(progress.fractionCompleted == 1 && replaced.all.isEmpty)
            #expect(request.uploadProgress.totalUnitCount == 0)
            let chunked = stage.get("/stream-bytes/5000")
            _ = await chunked.answered()
            #expect(chunked.downloadProgress.totalUnitCount == -1)
            #expect(chunked.downloadProgress.completedUnitCount == 5_000)
        }
    }

    @Test(
        "a request whose progress handlers retain it is released after its end",
        arguments: TestedHTTP.allCases)
    func retainedByProgressHandlers(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            weak var weakRequest: DataRequest?
            do {
                let request = stage.get("/bytes/1000", resumes: false)
                weakRequest = request
                request.downloadProgress { _ in _ = request.error }.uploadProgress { _ in _ = request.error }
                request.resume()
                #expect(await request.answered().data?.count == 1_000)
            }
            await stage.settle()
            await stage.recorder.queue.flush()
            for _ in 0..<1000 where weakRequest != nil { await stage.settle() }
            #expect(weakRequest == nil)
        }
    }

    @Test(
        "[DR-4, R-65] handlers are called in order, on their queue; a new gate replaces the old one",
        arguments: TestedHTTP.allCases
    )
    func handlerOrder(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let queue = DispatchQueue(label: "handlers")
            let seen = ValueLog<String>()
            let request = stage.get("/redirect/1", resumes: false)
            request.onHTTPResponse(on: queue) { _ in seen.add("replaced") }
                .onHTTPResponse(on: queue) { seen.add("head \($0.statusCode)") }
                .onURLRequestCreation(on: queue) { seen.add("request \($0.url?.path ?? "")") }
                .onURLSessionTaskCreation(on: queue) { seen.add("task \($0.state == .suspended)") }
                .response(queue: queue) { _ in seen.add("response") }
            request.resume()
            let all = await seen.wait(for: 4)
            #expect(all.count == 4 && all[0] == "request /redirect/1" && all[1].hasPrefix("task"))
            #expect(all[2] == "head 200" && all[3] == "response")
        }
    }

    @Test("[DR-4] no content is delivered until the gate has answered", arguments: TestedHTTP.allCases)
    func gateHolds(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let answers = ValueLog<@Sendable (Request.ResponseDisposition) -> Void>()
            // Breaks the retain cycle of the request, its gate and the answers.
            defer { answers.removeAll() }
            let request = stage.get().onHTTPResponse(on: DispatchQueue(label: "g")) { _, answer in
                answers.add(answer)
            }
            async let response = request.answered()
            let answer = try #require(await answers.wait(for: 1).first)
            await stage.settle()
            #expect(request.data == nil && stage.recorder.count("s10") == 0)
            answer(.allow)
            // A second answer is ignored.
            answer(.allow)
            #expect(await response.data?.isEmpty == false)
        }
    }

    @Test(
        "[R-63, R-64, R-87] handlers that are set late get the latest value; the curl handler is called once",
        arguments: TestedHTTP.allCases)
    func lateCreationHandlers(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let queue = DispatchQueue(label: "handlers")
            let seen = ValueLog<String>()
            let request = stage.get(resumes: false)
            request.cURLDescription(on: queue) { _ in seen.add("replaced") }
            request.cURLDescription { seen.add("\($0.hasPrefix("$ curl -v"))") }
            request.resume()
            _ = await request.answered()
            #expect(seen.all == ["true"])
            request.onURLRequestCreation(on: queue) { _ in seen.add("request") }
                .onURLSessionTaskCreation(on: queue) { _ in seen.add("task") }
                .cURLDescription(on: queue) { [unowned request] in
                    seen.add("\($0 == request.cURLDescription())")
                }
            #expect(await seen.wait(for: 4) == ["true", "request", "task", "true"])
            let invalid = stage.session.request("").cURLDescription(on: queue) { seen.add($0) }
            _ = await invalid.answered()
            #expect(await seen.wait(for: 5).last == "$ curl command could not be created")
        }
    }
}
