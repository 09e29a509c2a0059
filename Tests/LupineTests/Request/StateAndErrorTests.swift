// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// State and error change together: a thread that sees the cancelled state also sees the error, even before the root queue has
/// processed the cancellation.
struct StateAndErrorTests {
    /// A kind of request, to a URL that does not respond.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (PipelineStage) -> Request

        init(_ name: String, _ make: @escaping @Sendable (PipelineStage) -> Request) {
            testDescription = name
            self.make = make
        }
    }

    private static let kinds = [
        Kind("data") { $0.session.request($0.url("/stall")) },
        Kind("download") { $0.session.download($0.url("/stall")) },
        Kind("upload") { $0.session.upload(Data("a".utf8), to: $0.url("/stall")) },
        Kind("stream") { $0.session.streamRequest($0.url("/stall")) },
        Kind("web socket") { $0.session.webSocketRequest(to: $0.url("/stall")) },
    ]

    /// Runs `body` while the session's root queue is blocked.
    private static func whileRootIsBlocked(_ stage: PipelineStage, _ body: () -> Void) {
        let (begun, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        stage.session.rootQueue.async {
            begun.signal()
            release.wait()
        }
        begun.wait()
        body()
        release.signal()
    }

    @Test("[R-4] a cancelled request has its error at once", arguments: kinds, [false, true])
    func cancelled(_ kind: Kind, withTask hasTask: Bool) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false)) { stage in
            for method in ["GET", "POST"] { stage.origin.answer(method, "/stall", ScriptPlan(.stall)) }
            let request = kind.make(stage)
            if hasTask {
                let made = ValueLog<Bool>()
                request.onURLSessionTaskCreation(on: DispatchQueue(label: "made")) { _ in made.add(true) }
                request.resume()
                await made.wait(for: 1)
            }
            Self.whileRootIsBlocked(stage) {
                request.cancel()
                #expect(request.isCancelled)
                #expect(request.error?.isExplicitlyCancelledError == true)
            }
            let ended = ValueLog<Bool>()
            stage.session.rootQueue.async { request.onFinish { ended.add(true) } }
            await ended.wait(for: 1)
            #expect(request.isCancelled)
            #expect(request.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test(
        "[R-4] another thread that sees the cancelled state also sees the error",
        arguments: TestedHTTP.allCases)
    func seenOnAnotherThread(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) { stage in
            for _ in 0..<200 {
                let request = stage.session.request(stage.url("/get"))
                async let error = called { done in
                    DispatchQueue.global().async {
                        while !request.isCancelled {}
                        done(request.error)
                    }
                }
                request.cancel()
                #expect(await error?.isExplicitlyCancelledError == true)
            }
        }
    }

    @Test(
        "[R-4, R-56] a request that has failed keeps its error when it is cancelled",
        arguments: TestedHTTP.allCases)
    func failedBefore(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let failure = ValueLog<AFError?>()
            let request = stage.session.request(stage.url("/status/500")).validate()
            let response = await request.response(queue: DispatchQueue(label: "handler")) {
                [weak request] _ in
                request?.cancel()
                failure.add(request?.error)
            }.answered()
            #expect(response.error?.responseCode == 500)
            let seen = await failure.wait(for: 1)
            #expect(seen.first??.responseCode == 500)
        }
    }

    @Test(
        "[R-4] a web socket that is closed with a code never has an error",
        arguments: TestedHTTP.allCases)
    func closed(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.session.webSocketRequest(to: stage.url("/websocket"))
            let (connected, ended) = (ValueLog<Bool>(), ValueLog<Bool>())
            request.streamMessageEvents(on: DispatchQueue(label: "events")) { event in
                if case .connected = event.kind { connected.add(true) }
            }
            await connected.wait(for: 1)
            Self.whileRootIsBlocked(stage) {
                request.close(sending: .normalClosure)
                #expect(request.isCancelled && request.error == nil)
            }
            stage.session.rootQueue.async { request.onFinish { ended.add(true) } }
            await ended.wait(for: 1)
            #expect(request.isCancelled && request.error == nil)
        }
    }

    @Test("[T-3] a callback about a response finds it in `request.response`", arguments: TestedHTTP.allCases)
    func responses(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let seen = ValueLog<Int?>()
            let queue = DispatchQueue(label: "seen")
            let data = stage.session.request(stage.url("/get"))
            data.onHTTPResponse(on: queue) { [weak data] _ in seen.add(data?.response?.statusCode) }
            data.validate { [weak data] _, _, _ in
                seen.add(data?.response?.statusCode)
                return .success(())
            }
            _ = await data.answered()
            let download = Protected<DownloadRequest?>(nil)
            let request = stage.session.download(
                stage.url("/get"),
                to: { temporary, _ in
                    // Read outside the lock: the response could be of the program's class.
                    let request = download.read { $0 }
                    seen.add(request?.response?.statusCode)
                    return (temporary, [])
                })
            download.write(request)
            let file = await request.serializingDownloadedFileURL().response.fileURL
            download.write(nil)
            if let file { try? FileManager.default.removeItem(at: file) }
            let stream = stage.session.streamRequest(stage.url("/get"))
            stream.onHTTPResponse(on: queue) { [weak stream] _ in seen.add(stream?.response?.statusCode) }
            let complete = ValueLog<Bool>()
            stream.responseStream(on: queue) { if case .complete = $0.event { complete.add(true) } }
            await complete.wait(for: 1)
            #expect(seen.all == [200, 200, 200, 200])
        }
    }
}
