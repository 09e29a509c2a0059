// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Downloads that are cancelled or interrupted, and resumed.
struct DownloadResumeTests {
    /// A serializer that runs a closure.
    private struct Meanwhile: DownloadResponseSerializerProtocol {
        let body: @Sendable () -> Void

        func serializeDownload(
            request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
        ) throws -> String {
            body()
            return "value"
        }
    }

    private let resource = CutResource(bytes: octets(4000))
    private let quiet = DispatchQueue(label: "quiet")

    /// Starts a download, and returns when 1000 of its bytes have been received.
    private func running(
        _ stage: PipelineStage, to place: URL, interceptor: (any RequestInterceptor)? = nil
    ) async -> (DownloadRequest, Task<AFDownloadResponse<URL?>, Never>) {
        resource.serve(stage.origin, from: 0, cut: (1000, .stall))
        let written = ValueLog<Int64>()
        let request = stage.download("/resource", interceptor: interceptor) { _, _ in
            (place, [])
        }.downloadProgress(queue: quiet) { written.add($0.completedUnitCount) }
        let response = Task { await request.moved() }
        await written.wait(untilRecorded: 1000)
        return (request, response)
    }

    @Test(
        "[DL-20, DL-25] `cancel()` produces no resume data, and no retrier is called",
        arguments: TestedHTTP.allCases)
    func plainCancel(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let interceptor = ScriptedInterceptor(answers: [.retry])
                let (request, response) = await running(
                    stage, to: folder.appendingPathComponent("file"), interceptor: interceptor)
                request.cancel()
                let end = await response.value
                #expect(brief(end.error) == "explicit" && end.resumeData == nil && request.resumeData == nil)
                #expect(interceptor.questions.all.isEmpty && names(in: folder).isEmpty)
                #expect(request.isCancelled)
            }
        }
    }

    @Test(
        "[DL-21, DL-25, DL-26, S-27, I-1.15] another download resumes with the resume data of a cancelled one",
        arguments: TestedHTTP.allCases
    )
    func producing(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let interceptor = ScriptedInterceptor(answers: [.retry])
                let place = folder.appendingPathComponent("file")
                let (request, response) = await running(stage, to: place, interceptor: interceptor)
                request.cancel(producingResumeData: true)
                let end = await response.value
                #expect(brief(end.error) == "explicit" && interceptor.questions.all.isEmpty)
                let data = try #require(end.resumeData)
                #expect(data == request.resumeData)
                resource.serve(stage.origin, from: 1000)
                let fractions = ValueLog<Double>()
                let converted = ValueLog<URLRequest>()
                let adapted = ValueLog<Bool>()
                let adapter = Adapter { request, _, completion in
                    adapted.add(true)
                    completion(.success(request))
                }
                let rest = stage.session.download(resumingWith: data, interceptor: adapter) { _, _ in
                    (place, [])
                }
                .onURLRequestCreation(on: quiet) { converted.add($0) }
                .downloadProgress(queue: quiet) { fractions.add($0.fractionCompleted) }
                let whole = await rest.loaded()
                let isWhole = whole.value == Data(resource.bytes)
                #expect(isWhole && whole.response?.statusCode == 206)
                await fractions.wait(untilRecorded: 1)
                #expect(fractions.all.first ?? 0 > 0, "[DL-9] the offset comes first")
                #expect(fractions.all == fractions.all.sorted())
                #expect(rest.request == nil && rest.requests.isEmpty && whole.request == nil)
                #expect(converted.all.isEmpty && adapted.all.isEmpty, "nothing is converted or adapted")
            }
        }
    }

    @Test(
        "[DL-22] the closure, the request and the response have the same resume data",
        arguments: TestedHTTP.allCases)
    func closure(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let (request, response) = await running(stage, to: folder.appendingPathComponent("file"))
                let data = try #require(await request.cancelled())
                #expect(request.resumeData == data)
                #expect(await response.value.resumeData == data)
                let part = try #require(ResumeData(data))
                #expect(part.received == 1000)
                try FileManager.default.removeItem(atPath: part.file)
            }
        }
    }

    @Test("[DL-22] a suspended download can be cancelled", arguments: TestedHTTP.allCases)
    func suspended(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let (request, response) = await running(stage, to: folder.appendingPathComponent("file"))
                request.suspend()
                let data = try #require(await request.cancelled())
                #expect(brief(await response.value.error) == "explicit")
                try ResumeData(data).map { try FileManager.default.removeItem(atPath: $0.file) }
            }
        }
    }

    @Test(
        "[DL-23] without a task the closure is called once, with nil, after `cancel` has returned",
        arguments: TestedHTTP.allCases
    )
    func withoutTask(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) {
            stage async throws in
            let request = stage.session.download(stage.url())
            let heard = ValueLog<String>()
            let hold = DispatchSemaphore(value: 0)
            stage.session.rootQueue.async { hold.wait() }
            request.cancel(byProducingResumeData: { heard.add($0 == nil ? "nothing" : "data") })
            #expect(heard.all.isEmpty)
            request.cancel(byProducingResumeData: { _ in heard.add("second") })
            hold.signal()
            #expect(brief(await request.moved().error) == "explicit")
            await stage.settle()
            #expect(heard.all == ["nothing"] && request.resumeData == nil)
        }
    }

    @Test(
        "[DL-23] after the end of the task, while serializers run, the closure is called once, with nil",
        arguments: TestedHTTP.allCases)
    func whileSerializing(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let heard = ValueLog<String>()
            let request = stage.session.download(stage.url("/range/10"))
            let response: AFDownloadResponse<String> = await withCheckedContinuation { continuation in
                request.response(
                    queue: quiet,
                    responseSerializer: Meanwhile { [weak request] in
                        request?.cancel(byProducingResumeData: { heard.add($0 == nil ? "nothing" : "data") })
                    }
                ) { continuation.resume(returning: $0) }
            }
            #expect(response.value == "value")
            await stage.settle()
            #expect(heard.all == ["nothing"] && request.isCancelled)
            try request.fileURL.map { try FileManager.default.removeItem(at: $0) }
        }
    }

    @Test(
        "[DL-24] after a lost connection the request, its error and the response have resume data",
        arguments: TestedHTTP.allCases)
    func broken(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            resource.serve(stage.origin, from: 0, cut: (1000, .end))
            let request = stage.session.download(stage.url("/resource"))
            let end = await request.moved()
            #expect(brief(end.error) == "task lost")
            let data = try #require(end.resumeData)
            #expect(request.resumeData == data && request.error?.downloadResumeData == data)
            let part = try #require(ResumeData(data))
            #expect(FileManager.default.fileExists(atPath: part.file))
            try FileManager.default.removeItem(atPath: part.file)
        }
    }

    @Test(
        "[DL-24] the partial file of an attempt is removed when the next one starts from the beginning",
        arguments: TestedHTTP.allCases)
    func retriedPart(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            let parts = ValueLog<String>()
            let interceptor = ScriptedInterceptor(retry: { [resource] question in
                let data = question.error.asAFError?.downloadResumeData
                parts.add(data.flatMap { ResumeData($0) }?.file ?? "none")
                if let origin = self.origin.read({ $0 }) { resource.serve(origin, from: 0) }
                question.answer(.retry)
            })
            try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
                stage async throws in
                origin.write { $0 = stage.origin }
                resource.serve(stage.origin, from: 0, cut: (1000, .end))
                let place = folder.appendingPathComponent("file")
                let end = await stage.download("/resource") { _, _ in (place, []) }.loaded()
                let isWhole = end.value == Data(resource.bytes)
                #expect(isWhole)
                let part = try #require(parts.all.first)
                #expect(part.hasPrefix("/") && !FileManager.default.fileExists(atPath: part))
            }
        }
    }

    /// The origin, for an interceptor that needs it.
    private let origin = Protected<LupineOrigin.Origin?>(nil)

    @Test(
        "[DL-24] a partial file whose resume data a retrier's error has replaced is removed",
        arguments: TestedHTTP.allCases)
    func replacedError(over testedHTTP: TestedHTTP) async throws {
        let parts = ValueLog<String>()
        let interceptor = ScriptedInterceptor(retry: { question in
            parts.add(question.error.asAFError?.downloadResumeData.flatMap { ResumeData($0) }?.file ?? "none")
            question.answer(.doNotRetryWithError(BriefError("no")))
        })
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
            stage async throws in
            resource.serve(stage.origin, from: 0, cut: (1000, .end))
            let end = await stage.session.download(stage.url("/resource")).moved()
            await stage.settle()
            #expect(brief(end.error) == "retry no of task lost")
            let part = try #require(parts.all.first)
            #expect(FileManager.default.fileExists(atPath: part) == (end.resumeData != nil))
            try? FileManager.default.removeItem(atPath: part)
        }
    }

    @Test(
        "[DL-26] a download that is interrupted at 20 random points and resumed each time is complete",
        arguments: TestedHTTP.allCases)
    func manyCuts(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                var random = SeededRandom(seed: UInt64(ProcessInfo.processInfo.processIdentifier))
                let resource = CutResource(bytes: octets(4 << 20, seed: 7))
                let place = folder.appendingPathComponent("file")
                var data: Data?
                var offset = 0
                for round in 0..<20 {
                    let left = resource.bytes.count - offset
                    let cut = 1 + Int(random.next() % UInt64(left / (21 - round) * 2 - 1))
                    let ending = CutResource.Ending.allCases[round % 3]
                    resource.serve(stage.origin, from: offset, cut: (cut, ending))
                    let written = ValueLog<Int64>()
                    let request = stage.download(data, to: place)
                        .downloadProgress(queue: quiet) { written.add($0.completedUnitCount) }
                    async let response = request.moved()
                    if ending != .end { await written.wait(untilRecorded: Int64(offset + cut)) }
                    if ending == .stall { request.cancel(producingResumeData: true) }
                    if ending == .reset { stage.origin.gate("cut \(offset)").open() }
                    let end = await response
                    #expect(end.error != nil && end.fileURL == nil)
                    data = try #require(end.resumeData as Data?, "round \(round), \(ending)")
                    offset = Int(try #require(end.resumeData.flatMap { ResumeData($0) }).received)
                    #expect(offset > 0)
                }
                resource.serve(stage.origin, from: offset)
                let whole = await stage.download(data, to: place).loaded()
                let isWhole = whole.value == Data(resource.bytes)
                #expect(isWhole)
                #expect(names(in: folder) == ["file"])
            }
        }
    }

    @Test(
        "[DL-26] a resource that has changed is downloaded from the beginning", arguments: TestedHTTP.allCases
    )
    func changed(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let place = folder.appendingPathComponent("file")
                let (request, response) = await running(stage, to: place)
                let data = try #require(await request.cancelled())
                _ = await response.value
                let part = try #require(ResumeData(data)).file
                let other = CutResource(bytes: octets(3000, seed: 9), tag: "\"v2\"")
                other.serve(stage.origin, from: 0)
                let end = await stage.session.download(resumingWith: data) { _, _ in (place, []) }.loaded()
                let isWhole = end.value == Data(other.bytes)
                #expect(isWhole && end.response?.statusCode == 200)
                #expect(!FileManager.default.fileExists(atPath: part))
            }
        }
    }

    /// Returns a response whose 1,000 bytes all arrive, in chunks without the last chunk.
    private func unended(_ bytes: [UInt8]) -> Script {
        let head =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n\r\n"
        return Script([.send(head + "3E8\r\n"), .send(bytes), .send("\r\n"), .close])
    }

    @Test(
        "[DL-9, DL-26, V-6.16] resuming a download that has all bytes completes it, with full progress",
        arguments: [
            "416 Range Not Satisfiable\r\nContent-Range: bytes */1000\r\nContent-Type: text/html\r\n"
                + "Content-Length: 4\r\n\r\nnone",
            "206 Partial Content\r\nContent-Range: bytes 1000-999/1000\r\nContent-Type: a/b\r\n"
                + "Content-Length: 0\r\n\r\n",
        ], TestedHTTP.allCases)
    func nothingMissing(_ answer: String, over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let bytes = octets(1000)
                stage.origin.answer(
                    "GET", "/resource",
                    ScriptPlan([
                        unended(bytes),
                        Script([.send("HTTP/1.1 " + answer), .close]),
                    ]))
                let lost = await stage.session.download(stage.url("/resource")).moved()
                #expect(brief(lost.error) == "task lost")
                let data = try #require(lost.resumeData as Data?)
                let place = folder.appendingPathComponent("file")
                let fractions = ValueLog<Double>()
                let request = stage.session.download(resumingWith: data) { _, _ in (place, []) }
                    .downloadProgress(queue: quiet) { fractions.add($0.fractionCompleted) }
                    .validate().validate(contentType: ["a/b"])
                let end = await request.loaded()
                let isWhole = end.value == Data(bytes)
                #expect(isWhole, "\(end)")
                await quiet.flush()
                #expect(fractions.all.last == 1 && request.downloadProgress.totalUnitCount == 1000)
                #expect(names(in: folder) == ["file"])
                let part = try #require(ResumeData(data)).file
                #expect(!FileManager.default.fileExists(atPath: part))
            }
        }
    }

    @Test(
        "[V-6.16] any other 416 is validated like every status",
        arguments: ["Content-Range: bytes */1001\r\n", "Content-Range: bytes */*\r\n", ""],
        TestedHTTP.allCases)
    func refusedRange(_ field: String, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let refusal =
                "HTTP/1.1 416 Range Not Satisfiable\r\n" + field
                + "Content-Type: text/html\r\nContent-Length: 4\r\n\r\nnone"
            stage.origin.answer(
                "GET", "/resource",
                ScriptPlan([
                    unended(octets(1000)), Script([.send(refusal), .close]),
                    Script([.send(refusal), .close]),
                ]))
            let lost = await stage.session.download(stage.url("/resource")).moved()
            let data = try #require(lost.resumeData as Data?)
            let resumed = await stage.session.download(resumingWith: data).validate().moved()
            #expect(resumed.error?.responseCode == 416)
            // Nor is 416 accepted for a download that was not resumed.
            let anew = await stage.session.download(stage.url("/resource")).validate().moved()
            #expect(anew.error?.responseCode == 416)
            for file in [resumed.fileURL, anew.fileURL] {
                try FileManager.default.removeItem(at: try #require(file))
            }
        }
    }

    @Test(
        "[DL-24, DL-26] a server without range support leads to no resume data",
        arguments: TestedHTTP.allCases)
    func withoutRanges(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            var resource = resource
            resource.acceptsRanges = false
            resource.serve(stage.origin, from: 0, cut: (1000, .end))
            let end = await stage.session.download(stage.url("/resource")).moved()
            #expect(brief(end.error) == "task lost" && end.resumeData == nil)
        }
    }

    @Test("[DL-26] invalid resume data fails the request", arguments: TestedHTTP.allCases)
    func noResumeData(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let end = await stage.session.download(resumingWith: Data("none".utf8)).moved()
            #expect(brief(end.error) == "task unsupported" && end.fileURL == nil)
        }
    }

    @Test(
        "[DL-9] the total is -1 while it is unknown, and the completed bytes add up",
        arguments: TestedHTTP.allCases)
    func unknownTotal(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            stage.origin.answer(
                "GET", "/open",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\n\r\nabc"), .waitForSignal("rest"), .send("defg"), .close))
            let heard = ValueLog<String>()
            let request = stage.session.download(stage.url("/open")).downloadProgress(queue: quiet) {
                heard.add("\($0.completedUnitCount) of \($0.totalUnitCount)")
            }
            async let response = request.moved()
            await heard.wait(untilRecorded: "3 of -1")
            stage.origin.gate("rest").open()
            let end = await response
            await heard.wait(untilRecorded: "7 of -1")
            #expect(request.downloadProgress.completedUnitCount == 7)
            try end.fileURL.map { try FileManager.default.removeItem(at: $0) }
        }
    }
}
