// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Progress is reported before the response, on whatever queues the handlers are called.
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

        /// Whether a handler on that queue has run before the response's handler begins.
        var isBefore: Bool { self == .root || self == .sameAsResponse }
    }

    /// A kind of request and of its progress.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Starts a request whose progress handler is called on the first queue, and its response handler on the second.
        let begin:
            @Sendable (
                PipelineStage, DispatchQueue, DispatchQueue, @escaping @Sendable (Progress) -> Void,
                @escaping @Sendable () -> Void
            ) throws -> Request
    }

    private static let body = Data(count: 256 << 10)

    private static let kinds = [
        Kind(testDescription: "small data") { stage, progress, end, tell, done in
            stage.session.request(stage.url("/bytes/10")).downloadProgress(queue: progress, closure: tell)
                .response(queue: end) { _ in done() }
        },
        Kind(testDescription: "data") { stage, progress, end, tell, done in
            stage.session.request(stage.url("/bytes/262144")).downloadProgress(queue: progress, closure: tell)
                .responseData(queue: end) { _ in done() }
        },
        Kind(testDescription: "download") { stage, progress, end, tell, done in
            stage.session.download(stage.url("/bytes/262144")).downloadProgress(
                queue: progress, closure: tell
            )
            .response(queue: end) { response in
                if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
                done()
            }
        },
        Kind(testDescription: "upload") { stage, progress, end, tell, done in
            stage.session.upload(body, to: stage.url("/post")).uploadProgress(queue: progress, closure: tell)
                .response(queue: end) { _ in done() }
        },
        Kind(testDescription: "upload of a stream") { stage, progress, end, tell, done in
            var request = try URLRequest(url: stage.url("/post"), method: .post)
            request.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
            return stage.session.upload(InputStream(data: body), with: request)
                .uploadProgress(queue: progress, closure: tell).response(queue: end) { _ in done() }
        },
        Kind(testDescription: "body of a stream's request") { stage, progress, end, tell, done in
            var request = try URLRequest(url: stage.url("/post"), method: .post)
            request.httpBody = Data(count: 4096)
            return stage.session.streamRequest(request).uploadProgress(queue: progress, closure: tell)
                .responseStream(on: end) { if case .complete = $0.event { done() } }
        },
    ]

    private enum Event: Equatable {
        case progress(Int64, of: Int64)
        case response
    }

    @Test(
        "[R-61, DR-3, UP-9] progress comes to its end, and is told before the response", arguments: kinds,
        Place.allCases)
    func order(_ kind: Kind, _ place: Place) async throws {
        for spoken in Spoken.allCases {
            try await withPipeline(over: spoken) { stage in
                for _ in 0..<10 {
                    let response = DispatchQueue(label: "response")
                    let (events, whole, ended) = (ValueLog<Event>(), ValueLog<Bool>(), ValueLog<Bool>())
                    let request = try kind.begin(
                        stage, place.queue(stage, response), response,
                        { progress in
                            events.add(.progress(progress.completedUnitCount, of: progress.totalUnitCount))
                            if progress.isFinished { whole.add(true) }
                        },
                        {
                            events.add(.response)
                            ended.add(true)
                        })
                    await ended.wait(for: 1)
                    await whole.wait(for: 1)
                    withExtendedLifetime(request) {}
                    let all = events.all
                    let last = try #require(all.last { $0 != .response })
                    guard case .progress(let completed, let total) = last else { continue }
                    // Calls on a concurrent queue overtake each other.
                    if place != .concurrent { #expect(completed == total && total > 0) }
                    if place.isBefore { #expect(all.last == .response, "\(all)") }
                }
            }
        }
    }

    @Test(
        "[R-61] progress on a root queue that is the main one is told before the response", arguments: kinds)
    func mainRoot(_ kind: Kind) async throws {
        var setUp = PipelineSetUp()
        setUp.root = .main
        try await withPipeline(setUp) { stage in
            for _ in 0..<10 {
                let (events, ended) = (ValueLog<Event>(), ValueLog<Bool>())
                let request = try kind.begin(
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

    @Test("[R-61] a response does not wait for a queue of the program's", arguments: kinds, Spoken.allCases)
    func heldQueue(_ kind: Kind, over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
            let progress = DispatchQueue(label: "progress")
            progress.suspend()
            let (told, ended) = (ValueLog<Double>(), ValueLog<Bool>())
            let request = try kind.begin(
                stage, progress, DispatchQueue(label: "response"), { told.add($0.fractionCompleted) },
                { ended.add(true) })
            await ended.wait(for: 1)
            #expect(told.all.isEmpty)
            progress.resume()
            await told.wait(for: 1)
            await withCheckedContinuation { waiting in progress.async { waiting.resume() } }
            // One call covers all the progress that was waiting.
            #expect(told.all == [1])
            withExtendedLifetime(request) {}
        }
    }

    @Test("[R-61] the first progress is told at once", arguments: Spoken.allCases)
    func first(over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
            stage.origin.answer(
                "GET", "/two",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .waitForSignal("told"),
                    .send("b"),
                    .close))
            let told = ValueLog<Int64>()
            let origin = stage.origin
            let response = await stage.session.request(stage.url("/two")).downloadProgress(
                queue: DispatchQueue(label: "progress")
            ) {
                told.add($0.completedUnitCount)
                origin.gate("told").open()
            }.answered()
            #expect(response.data == Data("ab".utf8))
            let all = await told.wait(for: 2)
            #expect(all == [1, 2])
        }
    }

    @Test(
        "[R-61] progress on the root queue is told before a response that was ready when it ran",
        arguments: Spoken.allCases)
    func together(over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
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
            // Runs after both: if the response's handler were on its queue already, it would run here, before the progress
            // handler can.
            root.async { response.sync {} }
            root.resume()
            await ended.wait(for: 1)
            #expect(events.all == [.progress(2, of: 2), .response])
        }
    }
}
