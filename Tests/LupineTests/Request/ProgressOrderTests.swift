// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Progress handlers are called before the response handler, on whatever queues they are called.
struct ProgressOrderTests {
    /// The queue of a progress handler.
    enum Place: CaseIterable {
        case main, root, serial, concurrent, sameAsResponse

        func queue(_ stage: PipelineStage, _ response: DispatchQueue) -> DispatchQueue {
            switch self {
            case .main: .main
            case .root: stage.session.rootQueue
            case .serial: DispatchQueue(label: "progress")
            case .concurrent: DispatchQueue(label: "progress", attributes: .concurrent)
            case .sameAsResponse: response
            }
        }

        /// Whether a progress handler on that queue returns before the response handler is called.
        var endsBeforeResponse: Bool { self == .root || self == .sameAsResponse }
    }

    /// A kind of request, with its upload or download progress.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Starts a request. The progress handler is called on the first queue, the response handler on the second.
        let start:
            @Sendable (
                PipelineStage, DispatchQueue, DispatchQueue, @escaping @Sendable (Progress) -> Void,
                @escaping @Sendable () -> Void
            ) throws -> Request
    }

    private static let body = Data(count: 256 << 10)

    private static let kinds = [
        Kind(testDescription: "small data") { stage, progress, response, onProgress, onResponse in
            stage.session.request(stage.url("/bytes/10")).downloadProgress(
                queue: progress, closure: onProgress
            )
            .response(queue: response) { _ in onResponse() }
        },
        Kind(testDescription: "data") { stage, progress, response, onProgress, onResponse in
            stage.session.request(stage.url("/bytes/262144")).downloadProgress(
                queue: progress, closure: onProgress
            )
            .responseData(queue: response) { _ in onResponse() }
        },
        Kind(testDescription: "download") { stage, progress, response, onProgress, onResponse in
            stage.session.download(stage.url("/bytes/262144")).downloadProgress(
                queue: progress, closure: onProgress
            )
            .response(queue: response) { response in
                if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
                onResponse()
            }
        },
        Kind(testDescription: "upload") { stage, progress, response, onProgress, onResponse in
            stage.session.upload(body, to: stage.url("/post")).uploadProgress(
                queue: progress, closure: onProgress
            )
            .response(queue: response) { _ in onResponse() }
        },
        Kind(testDescription: "upload of a stream") { stage, progress, response, onProgress, onResponse in
            var request = try URLRequest(url: stage.url("/post"), method: .post)
            request.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
            return stage.session.upload(InputStream(data: body), with: request)
                .uploadProgress(queue: progress, closure: onProgress).response(queue: response) { _ in
                    onResponse()
                }
        },
        Kind(testDescription: "body of a stream's request") {
            stage, progress, response, onProgress, onResponse in
            var request = try URLRequest(url: stage.url("/post"), method: .post)
            request.httpBody = Data(count: 4096)
            return stage.session.streamRequest(request).uploadProgress(queue: progress, closure: onProgress)
                .responseStream(on: response) { if case .complete = $0.event { onResponse() } }
        },
    ]

    private enum Event: Equatable {
        case progress(Int64, of: Int64)
        case response
    }

    @Test(
        "[R-61, DR-3, UP-9] progress reaches its total, and is reported before the response",
        arguments: kinds,
        Place.allCases)
    func order(_ kind: Kind, _ place: Place) async throws {
        for testedHTTP in TestedHTTP.allCases {
            try await withPipeline(over: testedHTTP) { stage in
                for _ in 0..<10 {
                    let response = DispatchQueue(label: "response")
                    let (events, finished, ended) = (ValueLog<Event>(), ValueLog<Bool>(), ValueLog<Bool>())
                    let request = try kind.start(
                        stage, place.queue(stage, response), response,
                        { progress in
                            events.add(.progress(progress.completedUnitCount, of: progress.totalUnitCount))
                            if progress.isFinished { finished.add(true) }
                        },
                        {
                            events.add(.response)
                            ended.add(true)
                        })
                    await ended.wait(for: 1)
                    await finished.wait(for: 1)
                    withExtendedLifetime(request) {}
                    let all = events.all
                    let last = try #require(all.last { $0 != .response })
                    guard case .progress(let completed, let total) = last else { continue }
                    // Calls on a concurrent queue overtake each other.
                    if place != .concurrent { #expect(completed == total && total > 0) }
                    if place.endsBeforeResponse { #expect(all.last == .response, "\(all)") }
                }
            }
        }
    }

    @Test(
        "[R-61] progress on a root queue that is the main queue is reported before the response",
        arguments: kinds)
    func mainRoot(_ kind: Kind) async throws {
        var setUp = PipelineSetUp()
        setUp.root = .main
        try await withPipeline(setUp) { stage in
            for _ in 0..<10 {
                let (events, ended) = (ValueLog<Event>(), ValueLog<Bool>())
                let request = try kind.start(
                    stage, .main, DispatchQueue(label: "response"),
                    { events.add(.progress($0.completedUnitCount, of: $0.totalUnitCount)) },
                    {
                        events.add(.response)
                        ended.add(true)
                    })
                await ended.wait(for: 1)
                withExtendedLifetime(request) {}
                #expect(events.all.last == .response && events.all.count > 1, "\(events.all)")
            }
        }
    }

    @Test(
        "[R-61] a response does not wait for the queue of a progress handler", arguments: kinds,
        TestedHTTP.allCases)
    func heldQueue(_ kind: Kind, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let progress = DispatchQueue(label: "progress")
            progress.suspend()
            let (fractions, ended) = (ValueLog<Double>(), ValueLog<Bool>())
            let request = try kind.start(
                stage, progress, DispatchQueue(label: "response"), { fractions.add($0.fractionCompleted) },
                { ended.add(true) })
            await ended.wait(for: 1)
            #expect(fractions.all.isEmpty)
            progress.resume()
            await fractions.wait(for: 1)
            await withCheckedContinuation { waiting in progress.async { waiting.resume() } }
            // The handler is called once for all changes while its queue was suspended.
            #expect(fractions.all == [1])
            withExtendedLifetime(request) {}
        }
    }

    @Test("[R-61] the first progress is reported at once", arguments: TestedHTTP.allCases)
    func first(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            stage.origin.answer(
                "GET", "/two",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .waitForSignal("reported"),
                    .send("b"),
                    .close))
            let counts = ValueLog<Int64>()
            let origin = stage.origin
            let response = await stage.session.request(stage.url("/two")).downloadProgress(
                queue: DispatchQueue(label: "progress")
            ) {
                counts.add($0.completedUnitCount)
                origin.gate("reported").open()
            }.answered()
            #expect(response.data == Data("ab".utf8))
            let all = await counts.wait(for: 2)
            #expect(all == [1, 2])
        }
    }

    @Test(
        "[R-61] progress on the root queue is reported before a response that is ready when it runs",
        arguments: TestedHTTP.allCases)
    func together(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            stage.origin.answer(
                "GET", "/held",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .waitForSignal("go"), .send("ab"),
                    .stall))
            let (events, begun, ended) = (ValueLog<Event>(), ValueLog<Bool>(), ValueLog<Bool>())
            let (root, response) = (stage.session.rootQueue, DispatchQueue(label: "response"))
            let request = stage.session.request(stage.url("/held"))
                .onHTTPResponse { _ in begun.add(true) }
                .downloadProgress(queue: root) {
                    events.add(.progress($0.completedUnitCount, of: $0.totalUnitCount))
                }
                .response(queue: response) { _ in
                    events.add(.response)
                    ended.add(true)
                }
            await begun.wait(for: 1)
            await stage.settle()
            // Content and completion arrive together while the queue is suspended.
            root.suspend()
            stage.origin.gate("go").open()
            while request.task?.countOfBytesReceived != 2 { await Task.yield() }
            // This block runs after both have been processed. If the response handler were on its queue already, it would run
            // now, before the progress handler.
            root.async { response.sync {} }
            root.resume()
            await ended.wait(for: 1)
            #expect(events.all == [.progress(2, of: 2), .response])
        }
    }
}
