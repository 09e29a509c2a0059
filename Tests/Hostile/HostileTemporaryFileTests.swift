// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTestKit
import Synchronization
import Testing

/// Tests that no temporary file outlives its transfer, whatever a peer or the program does. `HostileStage` counts the files.
///
/// A part that can be resumed belongs to the owner of the resume data; the file of a download without a destination belongs to
/// whoever received its URL.
@Suite struct HostileTemporaryFileTests {
    private static let start =
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n\r\n01234"
    private static let second = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v2\"\r\n\r\nABCDEFGHIJ"
    private static let cut = Script([.send(start), .close])

    /// The server's response when a download that was interrupted in the middle is resumed.
    enum Sequel: CaseIterable, Sendable {
        case remainder, otherVersion, tooLong, tooShort, anotherSuccess, outOfRange, everything

        var answer: String {
            let part = "206 Partial Content\r\nContent-Range: bytes 5-9/10\r\n"
            return switch self {
            case .remainder: part + "ETag: \"v1\"\r\nContent-Length: 5\r\n\r\n56789"
            case .otherVersion: part + "ETag: \"v2\"\r\nContent-Length: 5\r\n\r\nFGHIJ"
            case .tooLong: part + "Transfer-Encoding: chunked\r\n\r\n8\r\n56789XXX\r\n0\r\n\r\n"
            case .tooShort: part + "Transfer-Encoding: chunked\r\n\r\n2\r\n56\r\n0\r\n\r\n"
            case .anotherSuccess: "203 Other\r\nContent-Length: 3\r\n\r\nABC"
            case .outOfRange: "416 No\r\nContent-Range: bytes */3\r\nContent-Length: 0\r\n\r\n"
            case .everything: "200 OK\r\nContent-Length: 10\r\n\r\nABCDEFGHIJ"
            }
        }
    }

    @Test(
        "[U-7.14] a resumed download removes its partial file, however it ends",
        arguments: Sequel.allCases, TestedHTTP.allCases)
    func resumed(_ sequel: Sequel, over testedHTTP: TestedHTTP) async throws {
        try await HostileStage.with(over: testedHTTP) { stage in
            stage.origin.answer(
                "GET", "/file",
                ScriptPlan([
                    Self.cut, Script([.send("HTTP/1.1 " + sequel.answer), .close]),
                    Script([.send(Self.second), .close]),
                ]))
            let first = await stage.session.download(stage.url("/file")).answered()
            let data = try #require(first.resumeData)
            #expect(stage.folder.files.count == 1, "the partial file is kept")
            let end = await stage.session.download(resumingWith: data).answered()
            if let file = end.fileURL { try FileManager.default.removeItem(at: file) }
            #expect(end.resumeData == nil)
        }
    }

    /// The way in which a download stops with half of its file.
    enum Ending: CaseIterable, Sendable {
        case cut, cutAndDiscarded, cutAndRetried, occupied, garbled, cancelled, cancelledAndDiscarded,
            invalidated
        case cancelledWhileAwaited
    }

    @Test(
        "[U-7.9, U-7.13] a failed download leaves no file", arguments: Ending.allCases,
        TestedHTTP.allCases)
    func failed(_ ending: Ending, over testedHTTP: TestedHTTP) async throws {
        try await HostileStage.with(over: testedHTTP) { stage in
            let url = stage.url("/file")
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n"
            switch ending {
            case .cut:
                serve(stage, Script([.send(head + "\r\n01234"), .close]))
                #expect(await stage.session.download(url).answered().resumeData == nil)
            case .cutAndDiscarded:
                serve(stage, Self.cut)
                let end = await stage.session.download(url).answered()
                URLSession.discardDownload(withResumeData: try #require(end.resumeData))
            case .cutAndRetried:
                serve(stage, Self.cut, Script([.send(Self.second), .close]))
                let retrier = Retrier { request, _, _, done in
                    done(request.retryCount == 0 ? .retry : .doNotRetry)
                }
                let end = await stage.session.download(url, interceptor: Interceptor(retriers: [retrier]))
                    .answered()
                try FileManager.default.removeItem(at: try #require(end.fileURL))
            case .occupied:
                serve(stage, Script([.send(Self.second), .close]))
                let place = FileManager.default.temporaryDirectory
                let end = await stage.session.download(url, to: { _, _ in (place, []) }).answered()
                #expect(end.error != nil)
            case .garbled:
                serve(
                    stage, Script([.send(head + "Content-Encoding: gzip\r\n\r\n0123456789"), .close]))
                #expect(await stage.session.download(url).answered().error != nil)
            case .cancelled:
                let request = await running(stage)
                let error = await withCheckedContinuation { continuation in
                    request.response(queue: DispatchQueue(label: "end")) {
                        continuation.resume(returning: $0.error)
                    }
                    request.cancel()
                }
                #expect(error?.isExplicitlyCancelledError == true)
            case .cancelledAndDiscarded:
                let request = await running(stage)
                let data = await withCheckedContinuation { continuation in
                    _ = request.cancel(byProducingResumeData: { continuation.resume(returning: $0) })
                }
                URLSession.discardDownload(withResumeData: try #require(data))
            case .invalidated:
                _ = await running(stage)
            case .cancelledWhileAwaited:
                stage.origin.answer("GET", "/file", ScriptPlan([Script([.send(Self.start), .stall])]))
                let address = try #require(URL(string: url))
                let (created, creation) = AsyncStream<Void>.makeStream()
                let observer = CreationObserver { creation.finish() }
                let waiting = Task {
                    try await stage.session.session.download(from: address, delegate: observer)
                }
                for await _ in created {}
                waiting.cancel()
                await #expect(throws: URLError.self) { try await waiting.value }
            }
        }
    }

    private func serve(_ stage: HostileStage, _ scripts: Script...) {
        stage.origin.answer("GET", "/file", ScriptPlan(scripts))
    }

    /// Starts a download that stops in the middle, and returns once half has arrived.
    private func running(_ stage: HostileStage) async -> DownloadRequest {
        serve(stage, Script([.send(Self.start), .stall]))
        let (halfWritten, half) = AsyncStream<Void>.makeStream()
        let request = stage.session.download(stage.url("/file"))
            .downloadProgress(queue: DispatchQueue(label: "progress")) { progress in
                if progress.completedUnitCount == 5 { half.finish() }
            }
            .response(queue: DispatchQueue(label: "handler")) { _ in }
        for await _ in halfWritten {}
        return request
    }

    /// Reports the creation of a task.
    private final class CreationObserver: NSObject, URLSessionTaskDelegate, Sendable {
        let seen: @Sendable () -> Void

        init(_ seen: @escaping @Sendable () -> Void) { self.seen = seen }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { seen() }
    }

    /// The way in which a request ends that sends a form from a file.
    enum Form: CaseIterable, Sendable { case sent, refused, cut, retried, cancelled, unreadable, invalidated }

    @Test(
        "[UP-8] the file of a form is removed when its request ends", arguments: Form.allCases,
        TestedHTTP.allCases)
    func forms(_ form: Form, over testedHTTP: TestedHTTP) async throws {
        try await HostileStage.with(over: testedHTTP) { stage in
            let answer = Script([
                .expectHead, .send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), .close,
            ])
            let refusal = Script([
                .expectHead,
                .send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                .close,
            ])
            let scripts: [Script] =
                switch form {
                case .sent, .unreadable: [answer]
                case .refused: [refusal]
                case .cut: [Script([.expectHead, .reset])]
                case .retried: [refusal, answer]
                case .cancelled, .invalidated: [Script([.expectHead, .signal("asked"), .stall])]
                }
            stage.origin.answer("POST", "/form", ScriptPlan(scripts))
            let retrier = Retrier { request, _, _, done in
                done(form == .retried && request.retryCount == 0 ? .retry : .doNotRetry)
            }
            let missing = stage.folder.url.appendingPathComponent("missing")
            let upload = stage.session.upload(
                multipartFormData: { parts in
                    parts.append(Data(repeating: 0x61, count: 1000), withName: "a")
                    if form == .unreadable { parts.append(missing, withName: "b") }
                },
                to: stage.url("/form"), usingThreshold: 0, interceptor: Interceptor(retriers: [retrier])
            ).validate()
            async let end = upload.answered()
            switch form {
            case .sent, .retried: #expect(await end.error == nil)
            case .refused, .cut, .unreadable: #expect(await end.error != nil)
            case .cancelled:
                await stage.origin.gate("asked").wait()
                upload.cancel()
                _ = await end
            case .invalidated:
                await stage.origin.gate("asked").wait()
                stage.session.session.invalidateAndCancel()
                #expect(await end.error != nil)
            }
        }
    }

    /// Delivers half of the content, and fails with its own error.
    private final class FailingProtocol: URLProtocol {
        struct Failure: Error {}

        override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "breaking.test" }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            let fields = ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "10"]
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data("01234".utf8))
            client?.urlProtocol(self, didFailWithError: Failure())
        }

        override func stopLoading() {}
    }

    @Test(
        "[U-7.13] a partial file is removed if the error has no resume data", arguments: TestedHTTP.allCases)
    func withoutResumeData(over testedHTTP: TestedHTTP) async throws {
        try await HostileStage.with(over: testedHTTP) { configuration, _ in
            configuration.protocolClasses = [FailingProtocol.self]
        } _: { stage in
            let end = await stage.session.download("http://breaking.test/").answered()
            #expect(end.error != nil && end.resumeData == nil)
        }
    }

    @Test(
        "[S-30] a released session removes its files", arguments: [false, true], TestedHTTP.allCases)
    func released(_ isForm: Bool, over testedHTTP: TestedHTTP) async throws {
        try await HostileStage.with(over: testedHTTP) { stage in
            let gate = stage.origin.gate("asked")
            stage.origin.answer(
                nil, "/held", ScriptPlan([Script([.send(Self.start), .signal("asked"), .stall])]))
            let configuration = try HostileStage.configuration(of: stage.origin)
            configuration.lupine.temporaryDirectory = stage.folder.url
            var session: Session? = Session(configuration: configuration)
            let (ended, end) = AsyncStream<Void>.makeStream()
            if isForm {
                session?.upload(
                    multipartFormData: { $0.append(Data(repeating: 0x61, count: 1 << 20), withName: "a") },
                    to: stage.url("/held"), usingThreshold: 0
                ).response(queue: DispatchQueue(label: "handler")) { _ in end.finish() }
            } else {
                session?.download(stage.url("/held")).response(queue: DispatchQueue(label: "handler")) { _ in
                    end.finish()
                }
            }
            await gate.wait()
            session = nil
            for await _ in ended {}
        }
    }
}
