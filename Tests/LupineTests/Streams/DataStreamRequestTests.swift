// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The delivery of a stream's data and completion to its handlers.
struct DataStreamRequestTests {
    private let queue = DispatchQueue(label: "handler")

    /// Fails for data that contains an `x`.
    private struct Picky: DataStreamSerializer {
        func serialize(_ data: Data) throws -> String {
            let text = String(decoding: data, as: UTF8.self)
            if text.contains("x") { throw BriefError("x") }
            return text
        }
    }

    /// Works on its first piece until there is more data, and for a while longer.
    private final class Lingering: DataStreamSerializer, Sendable {
        private let state = Protected((calls: 0, isInside: false, overlaps: false))
        private let hasMore: @Sendable () -> Bool

        init(_ hasMore: @escaping @Sendable () -> Bool) { self.hasMore = hasMore }

        var overlaps: Bool { state.read { $0.overlaps } }

        func serialize(_ data: Data) throws -> String {
            let isFirst = state.write { state in
                state.calls += 1
                if state.isInside { state.overlaps = true }
                state.isInside = true
                return state.calls == 1
            }
            if isFirst {
                while !hasMore() { sched_yield() }
                for _ in 0..<20_000 where !overlaps { sched_yield() }
            }
            state.write { $0.isInside = false }
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// Returns the URL of a response in these pieces, each of which is sent when the gate of its name is opened.
    private func pieces(_ stage: PipelineStage, _ pieces: String...) -> String {
        let count = pieces.joined().utf8.count
        var steps: [Script.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")]
        for piece in pieces { steps += [.waitForSignal(piece), .send(piece)] }
        stage.origin.answer("GET", "/pieces", ScriptPlan([Script(steps + [.close])]))
        return stage.url("/pieces")
    }

    @Test(
        "[DS-1] each handler gets all pieces that arrive after it was added, in the order of the handlers",
        arguments: TestedHTTP.allCases)
    func handlers(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let address = pieces(stage, "a", "b", "c")
            let heard = ValueLog<String>()
            let request = stage.session.streamRequest(address)
            @Sendable func listen(_ name: String) {
                request.responseStream(on: queue) { stream in
                    if let value = stream.value { heard.add(name + String(decoding: value, as: UTF8.self)) }
                }
            }
            listen("1")
            listen("2")
            stage.origin.gate("a").open()
            await heard.wait(for: 2)
            stage.origin.gate("b").open()
            await heard.wait(for: 4)
            listen("3")
            stage.origin.gate("c").open()
            let end = await request.heard(using: PassthroughStreamSerializer(), on: queue)
            await stage.settle()
            #expect(heard.all == ["1a", "2a", "1b", "2b", "1c", "2c", "3c"])
            #expect(end.completion.error == nil)
        }
    }

    @Test(
        "[DS-1] without a handler pieces are dropped, and the request finishes",
        arguments: TestedHTTP.allCases)
    func noHandler(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let request = stage.session.streamRequest(stage.url("/bytes/1000000"))
            request.resume()
            await stage.recorder.heard.wait(untilRecorded: "r17")
            #expect(request.isFinished && request.error == nil)
        }
    }

    @Test("[DS-2] pieces without a serializer cause no parse event", arguments: TestedHTTP.allCases)
    func raw(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let ended = ValueLog<String>()
            let bytes = ValueLog<UInt8>()
            stage.session.streamRequest(stage.url("/range/26")).responseStream(on: queue) { stream in
                for byte in stream.value ?? Data() { bytes.add(byte) }
                if stream.completion != nil { ended.add("end") }
            }
            await ended.wait(for: 1)
            await stage.settle()
            #expect(String(decoding: bytes.all, as: UTF8.self) == "abcdefghijklmnopqrstuvwxyz")
            #expect(stage.recorder.count("t2") == 0)
        }
    }

    @Test(
        "[DS-3] serialized pieces cause parse events; a failure does not end the stream",
        arguments: TestedHTTP.allCases)
    func serialized(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let address = pieces(stage, "a", "x", "b")
            let request = stage.session.streamRequest(address)
            let count = ValueLog<String>()
            async let end = request.heard(using: Picky(), on: queue) { _ in count.add("piece") }
            stage.origin.gate("a").open()
            await count.wait(for: 1)
            stage.origin.gate("x").open()
            await count.wait(for: 2)
            stage.origin.gate("b").open()
            let heard = await end
            #expect(heard.values == ["a", "b"] && heard.errors.map { brief($0) } == ["custom x"])
            #expect(heard.completion.error == nil && heard.completions == 1)
            await stage.settle()
            #expect(
                stage.recorder.heard.all.filter { $0.hasPrefix("t2") } == ["t2", "t2(custom x)", "t2"])
        }
    }

    @Test(
        "[DS-3, DS-5] with automatic cancellation a failure cancels the request; earlier pieces are delivered",
        arguments: TestedHTTP.allCases)
    func automaticCancel(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let address = pieces(stage, "a", "x", "b")
            let request = stage.session.streamRequest(address, automaticallyCancelOnStreamError: true)
            let count = ValueLog<String>()
            async let end = request.heard(using: Picky(), on: queue) { _ in count.add("piece") }
            stage.origin.gate("a").open()
            await count.wait(for: 1)
            stage.origin.gate("x").open()
            let heard = await end
            #expect(heard.values == ["a"] && heard.errors.map { brief($0) } == ["custom x"])
            #expect(brief(heard.completion.error) == "explicit" && heard.completion.response != nil)
            #expect(request.automaticallyCancelOnStreamError && request.isCancelled)
        }
    }

    @Test(
        "[DS-4] an error that a handler throws for a piece fails the request; one for the completion is ignored",
        arguments: TestedHTTP.allCases
    )
    func throwing(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            for (error, expected) in [
                (BriefError("no") as any Error, "custom no"), (AFError.sessionDeinitialized, "deinitialized"),
            ] {
                let heard = await stage.session.streamRequest(stage.url("/infinite"))
                    .heard(using: PassthroughStreamSerializer(), on: queue) { _ in throw error }
                #expect(brief(heard.completion.error) == expected)
                #expect(heard.completion.response?.statusCode == 200 && heard.completions == 1)
            }
        }
    }

    @Test(
        "[DS-5] the stream's token cancels the request, and does not retain it", arguments: [true, false],
        TestedHTTP.allCases)
    func token(usesToken: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let kept = ValueLog<DataStreamRequest.CancellationToken>()
            weak var weakly: DataStreamRequest?
            do {
                let request = stage.session.streamRequest(stage.url("/infinite"))
                weakly = request
                let heard = await request.heard(using: StringStreamSerializer(), on: queue) { stream in
                    kept.add(stream.token)
                    if usesToken { stream.token.cancel() } else { stream.cancel() }
                }
                #expect(brief(heard.completion.error) == "explicit" && heard.completion.response != nil)
            }
            await stage.settle()
            await stage.recorder.queue.flush()
            for _ in 0..<1000 where weakly != nil { await stage.settle() }
            #expect(weakly == nil && !kept.all.isEmpty)
            kept.all.first?.cancel()
        }
    }

    @Test(
        "[S-5, DS-2] pieces are serialized one at a time even on a concurrent serialization queue",
        arguments: TestedHTTP.allCases)
    func concurrentSerializers(over testedHTTP: TestedHTTP) async throws {
        let serializers = DispatchQueue(label: "serializers", attributes: .concurrent)
        try await withPipeline(PipelineSetUp(serializationQueue: serializers), over: testedHTTP) {
            stage async throws in
            let address = pieces(stage, "a", "b")
            let request = stage.session.streamRequest(address)
            let serializer = Lingering {
                // The second piece arrives during the work on the first.
                stage.origin.gate("b").open()
                return (request.task?.countOfBytesReceived ?? 0) > 1
            }
            stage.origin.gate("a").open()
            let heard = await request.heard(using: serializer, on: queue)
            #expect(heard.values == ["a", "b"] && !serializer.overlaps)
        }
    }

    @Test("a handler that has heard of the end lets go of the request", arguments: TestedHTTP.allCases)
    func released(over testedHTTP: TestedHTTP) async throws {
        weak var gone: DataStreamRequest?
        try await withPipeline(over: testedHTTP) { stage async throws in
            do {
                let request = stage.session.streamRequest(stage.url("/range/26"))
                gone = request
                _ = await request.heard(using: StringStreamSerializer(), on: queue) { _ in _ = request.id }
            }
            await queue.flush()
            for _ in 0..<1000 where gone != nil { await stage.settle() }
            #expect(gone == nil)
        }
    }

    @Test(
        "[DS-6] the completion follows when all handlers have processed all pieces",
        arguments: TestedHTTP.allCases)
    func end(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) {
            stage async throws in
            let slow = DispatchQueue(label: "slow")
            let go = DispatchSemaphore(value: 0)
            let heard = ValueLog<String>()
            let request = stage.session.streamRequest(stage.url("/range/26"))
            request.responseStream(on: slow) { stream in
                if stream.completion == nil { go.wait() }
                heard.add(stream.completion == nil ? "slow piece" : "slow end")
            }
            request.responseStream(on: queue) { stream in
                heard.add(stream.completion == nil ? "piece" : "end")
                if let completion = stream.completion {
                    heard.add("\(completion.response?.statusCode ?? 0) \(completion.metrics != nil)")
                    heard.add(completion.request?.url?.path ?? "")
                }
            }
            request.resume()
            await stage.recorder.heard.wait(untilRecorded: "r17")
            await stage.settle()
            await queue.flush()
            #expect(heard.all == ["piece"])
            go.signal()
            await heard.wait(untilRecorded: "/range/26")
            await slow.flush()
            #expect(heard.all.count == 6 && heard.all.dropFirst().first == "slow piece")
            #expect(heard.all.contains("200 true") && heard.all.contains("slow end"))
        }
    }

    @Test(
        "[DS-7] failures of the handlers' serializers call no retrier",
        arguments: TestedHTTP.allCases)
    func noRetry(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
            stage async throws in
            let address = pieces(stage, "x")
            stage.origin.gate("x").open()
            let heard = await stage.session.streamRequest(address).heard(using: Picky(), on: queue)
            #expect(heard.errors.count == 1 && heard.completion.error == nil)
            #expect(interceptor.questions.all.isEmpty)
        }
    }

    @Test(
        "[DS-8] the pieces of a retried attempt are delivered, and the handlers are kept",
        arguments: TestedHTTP.allCases)
    func retried(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
            stage async throws in
            stage.origin.answer(
                "GET", "/twice",
                ScriptPlan([
                    Script([.send("HTTP/1.1 503 No\r\nContent-Length: 1\r\n\r\na"), .close]),
                    Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"), .close]),
                ]))
            let heard = await stage.session.streamRequest(stage.url("/twice")).validate()
                .heard(using: StringStreamSerializer(), on: queue)
            #expect(heard.values == ["a", "b"] && heard.completion.error == nil && heard.completions == 1)
        }
    }

    @Test("[DS-9] upload progress is reported, download progress never", arguments: TestedHTTP.allCases)
    func progress(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let up = ValueLog<Int64>()
            let down = ValueLog<Int64>()
            let request = stage.session.streamRequest(
                stage.url("/post"), method: .post, parameters: ["a": "b"]
            ).uploadProgress(queue: queue) { up.add($0.completedUnitCount) }
                .downloadProgress(queue: queue) { down.add($0.completedUnitCount) }
            let heard = await request.heard(using: PassthroughStreamSerializer())
            #expect(heard.completion.error == nil)
            await up.wait(untilRecorded: 3)
            await queue.flush()
            #expect(down.all.isEmpty && request.downloadProgress.completedUnitCount == 0)
            #expect(request.downloadProgress.totalUnitCount == 0)
        }
    }
}
