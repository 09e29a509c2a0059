// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The content of uploads, and their progress.
struct UploadRequestTests {
    private let quiet = DispatchQueue(label: "quiet")

    /// The origin's description of a body: its length and hash.
    struct Hashed: Decodable, Sendable {
        let bytes: Int
        let sha256: String
    }

    /// A file manager that records what is removed.
    private final class NotingManager: FileManager, @unchecked Sendable {
        let removed = ValueLog<URL>()

        override func removeItem(at URL: URL) throws {
            removed.add(URL)
            try super.removeItem(at: URL)
        }
    }

    /// Creates the uploadable for each attempt, and counts.
    private struct Counted: UploadConvertible {
        let url: String
        let made: ValueLog<String>
        var failure: BriefError?

        func asURLRequest() throws -> URLRequest { try URLRequest(url: url, method: .post) }

        func createUploadable() throws -> UploadRequest.Uploadable {
            made.add("made")
            if let failure { throw failure }
            return .data(Data("attempt \(made.all.count)".utf8))
        }
    }

    @Test(
        "[UP-1, UP-3] data, a file and a stream are sent with POST and without a Content-Type",
        arguments: 0..<3,
        TestedHTTP.allCases)
    func kinds(_ kind: Int, over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let methods = ValueLog<String>()
                stage.origin.route(nil, "/take") { request throws(Refusal) in
                    methods.add("\(request.head.method)")
                    return try OriginResponse(200, "text/plain", request.body)
                }
                let content = Data(octets(100_000))
                let file = folder.appendingPathComponent("file")
                try content.write(to: file)
                let address = stage.url("/take")
                let request =
                    switch kind {
                    case 0: stage.session.upload(content, to: address)
                    case 1: stage.session.upload(file, to: address)
                    default: stage.session.upload(InputStream(data: content), to: address)
                    }
                let response = await request.parsed()
                let isWhole = response.value == content
                #expect(isWhole)
                #expect(methods.all == ["POST"] && request.request?.headers["Content-Type"] == nil)
                #expect(request.task is URLSessionUploadTask)
                switch (kind, request.uploadable) {
                case (0, .data(let sent)): #expect(sent == content)
                case (1, .file(file, shouldRemove: false)): break
                case (2, .stream): break
                default: Issue.record("\(String(describing: request.uploadable))")
                }
                #expect(FileManager.default.fileExists(atPath: file.path), "[UP-8] it is the user's")
            }
        }
    }

    @Test(
        "[UP-2, I-1.16] the uploadable is created once per attempt, after the adapter, and can be read at the end",
        arguments: TestedHTTP.allCases
    )
    func made(over testedHTTP: TestedHTTP) async throws {
        let order = ValueLog<String>()
        let interceptor = ScriptedInterceptor(
            adapt: { adaptation in
                order.add("made")
                adaptation.answer(.success(adaptation.request))
            }, answers: [.retry])
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
            stage async throws in
            let made = ValueLog<String>()
            stage.origin.answer(
                "POST", "/twice",
                ScriptPlan([
                    Script([.close]),
                    Script([
                        .expectBytes(9), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close,
                    ]),
                ]))
            let request = UploadRequest(
                convertible: Counted(url: stage.url("/twice"), made: made),
                underlyingQueue: stage.session.rootQueue,
                serializationQueue: stage.session.serializationQueue,
                eventMonitor: stage.session.eventMonitor, interceptor: nil, fileManager: .default,
                shouldAutomaticallyResume: nil, delegate: stage.session)
            let response = await request.parsed()
            #expect(response.value == Data("ok".utf8) && request.retryCount == 1)
            #expect(made.all.count == 2 && order.all.count == 2)
            guard case .data(let sent) = request.uploadable else {
                Issue.record("\(String(describing: request.uploadable))")
                return
            }
            #expect(sent == Data("attempt 2".utf8))
        }
    }

    @Test(
        "[UP-2, S-23] an uploadable that cannot be created fails the request; the program's error is wrapped",
        arguments: TestedHTTP.allCases)
    func notMade(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let request = UploadRequest(
                convertible: Counted(url: stage.url("/hash"), made: ValueLog(), failure: BriefError("no")),
                underlyingQueue: stage.session.rootQueue,
                serializationQueue: stage.session.serializationQueue,
                eventMonitor: stage.session.eventMonitor, interceptor: nil, fileManager: .default,
                shouldAutomaticallyResume: nil, delegate: stage.session)
            let described = ValueLog<String>()
            request.cURLDescription(on: DispatchQueue(label: "curl")) { described.add($0) }
            let response = await request.parsed()
            #expect(described.all.isEmpty, "a request that is not sent has no command")
            guard case .createUploadableFailed(let error) = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(brief(error) == "no" && request.uploadable == nil && request.tasks.isEmpty)
        }
    }

    @Test(
        "[UP-6] each attempt gets the same stream, without the bytes that were read already",
        arguments: TestedHTTP.allCases)
    func replayedStream(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
            stage async throws in
            stage.origin.answer(
                "POST", "/twice",
                ScriptPlan([
                    Script([.expectBytes(7), .close]),
                    Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close]),
                ]))
            let stream = InputStream(data: Data("content".utf8))
            let request = stage.session.upload(stream, to: stage.url("/twice"))
            let response = await request.parsed()
            #expect(request.retryCount == 1)
            await stage.settle()
            #expect(stage.recorder.count("u3") == 2)
            guard case .stream(let sent) = request.uploadable else {
                Issue.record("\(String(describing: request.uploadable))")
                return
            }
            #expect(sent === stream && response.error != nil || response.value == Data("ok".utf8))
        }
    }

    @Test("[UP-6] an upload without a stream provides none", arguments: TestedHTTP.allCases)
    func noStream(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let request = stage.session.upload(Data("content".utf8), to: stage.url("/hash"))
            #expect(request.inputStream() == nil)
            #expect(await request.parsed().error == nil)
            #expect(request.inputStream() == nil)
        }
    }

    @Test("[UP-1] a retry reads the file again, with its present content", arguments: TestedHTTP.allCases)
    func retriedFile(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            let file = folder.appendingPathComponent("file")
            let bodies = ValueLog<[UInt8]>()
            let interceptor = ScriptedInterceptor(retry: { question in
                guard question.retryCount == 0 else { return question.answer(.doNotRetry) }
                try? Data(octets(50_000, seed: 5)).write(to: file)
                question.answer(.retry)
            })
            try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
                stage async throws in
                try Data(octets(20_000)).write(to: file)
                stage.origin.route("POST", "/twice") { request throws(Refusal) in
                    bodies.add(request.body)
                    return OriginResponse(bodies.all.count == 1 ? 503 : 200)
                }
                let response = await stage.session.upload(file, to: stage.url("/twice")).validate().answered()
                #expect(response.response?.statusCode == 200)
                let isReadAgain = bodies.all == [octets(20_000), octets(50_000, seed: 5)]
                #expect(isReadAgain)
            }
        }
    }

    @Test(
        "[UP-9, T-11] progress in both directions never decreases, and ends at the total",
        arguments: [true, false], TestedHTTP.allCases)
    func progress(isStreamed: Bool, over testedHTTP: TestedHTTP) async throws {
        // The origin reads no more before the first progress has been reported, and the kernel's buffers cannot hold the rest.
        try await withPipeline(.narrow, over: testedHTTP) { stage async throws in
            let count = 8 << 20
            let up = ValueLog<Int64>()
            let down = ValueLog<Double>()
            let told = DispatchSemaphore(value: 0)
            let data = Data(octets(count))
            stage.origin.route("POST", "/take", .streamed { _ throws(Refusal) in WaitingSink(told) })
            let request =
                isStreamed
                ? stage.session.upload(
                    InputStream(data: data), to: stage.url("/take"),
                    headers: ["Content-Length": "\(count)"])
                : stage.session.upload(data, to: stage.url("/take"))
            request.uploadProgress(queue: quiet) { progress in
                up.add(progress.completedUnitCount)
                told.signal()
            }.downloadProgress(queue: quiet) { down.add($0.fractionCompleted) }
            let response = await request.parsed()
            #expect(response.value?.count == 4096)
            await up.wait(untilRecorded: Int64(count))
            await down.wait(untilRecorded: 1)
            #expect(up.all == up.all.sorted() && down.all == down.all.sorted())
            #expect(request.uploadProgress.totalUnitCount == Int64(count))
            #expect(request.uploadProgress.fractionCompleted == 1)
            #expect(up.all.count > 1)
        }
    }

    /// Receives a body, waiting at its first piece for the semaphore, and responds with 4 KiB.
    private final class WaitingSink: BodySink {
        private let gate: DispatchSemaphore
        private let hasBegun = Protected(false)

        init(_ gate: DispatchSemaphore) { self.gate = gate }

        func receive(_ bytes: Span<UInt8>) throws(Refusal) {
            let isFirst = hasBegun.write { hasBegun in
                defer { hasBegun = true }
                return !hasBegun
            }
            if isFirst { gate.wait() }
        }

        func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
            try OriginResponse(200, "text/plain", [UInt8](repeating: 65, count: 4096))
        }
    }

    @Test(
        "[UP-1] a response that arrives while the body is being sent is received", arguments: [true, false],
        TestedHTTP.allCases)
    func earlyAnswer(isFile: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                stage.origin.answer(
                    "POST", "/full",
                    ScriptPlan(
                        .expectBytes(100_000),
                        .send(
                            "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfull"
                        ),
                        .stall))
                let data = Data(octets(32 << 20))
                let file = folder.appendingPathComponent("file")
                try data.write(to: file)
                let request =
                    isFile
                    ? stage.session.upload(file, to: stage.url("/full"))
                    : stage.session.upload(data, to: stage.url("/full"))
                let response = await request.validate().parsed()
                #expect(response.response?.statusCode == 413)
                #expect(brief(response.error) == "status 413" && response.data == Data("full".utf8))
            }
        }
    }

    @Test(
        "[UP-8] the request's file manager removes the upload's file before the handlers are called",
        arguments: TestedHTTP.allCases)
    func cleanup(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                struct Written: UploadConvertible {
                    let url: String
                    let file: URL
                    func asURLRequest() throws -> URLRequest { try URLRequest(url: url, method: .post) }
                    func createUploadable() throws -> UploadRequest.Uploadable {
                        try Data("content".utf8).write(to: file)
                        return .file(file, shouldRemove: true)
                    }
                }
                let manager = NotingManager()
                let file = folder.appendingPathComponent("written")
                let request = UploadRequest(
                    convertible: Written(url: stage.url("/hash"), file: file),
                    underlyingQueue: stage.session.rootQueue,
                    serializationQueue: stage.session.serializationQueue,
                    eventMonitor: stage.session.eventMonitor, interceptor: nil, fileManager: manager,
                    shouldAutomaticallyResume: nil, delegate: stage.session)
                let order = ValueLog<Bool>()
                request.onFinish { order.add(FileManager.default.fileExists(atPath: file.path)) }
                #expect(await request.parsed().error == nil)
                await stage.settle()
                #expect(manager.removed.all == [file] && order.all == [false])
                if case .file(file, shouldRemove: true) = request.uploadable {
                } else {
                    Issue.record("it can still be read")
                }
            }
        }
    }
}
