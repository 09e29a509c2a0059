// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTestKit
import Synchronization
import Testing

/// No temporary file outlives its transfer, whatever a peer or the program does; `HostileStage` counts the files.
///
/// A part that can be resumed belongs to the owner of the resume data; the file of a download without a destination belongs to
/// whoever received its URL.
@Suite struct HostileLitterTests {
    private static let start =
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n\r\n01234"
    private static let second = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v2\"\r\n\r\nABCDEFGHIJ"
    private static let cut = Script([.send(start), .close])

    /// The server's response when a download that was interrupted in the middle is resumed.
    enum Sequel: CaseIterable, Sendable {
        case rest, otherVersion, tooLong, tooShort, anotherSuccess, outOfRange, everything

        var answer: String {
            let part = "206 Partial Content\r\nContent-Range: bytes 5-9/10\r\n"
            return switch self {
            case .rest: part + "ETag: \"v1\"\r\nContent-Length: 5\r\n\r\n56789"
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
        "[U-7.14] a download that is gone on with uses its part up, however that ends",
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
            #expect(stage.litter.files.count == 1, "the part is there")
            let end = await stage.session.download(resumingWith: data).answered()
            if let file = end.fileURL { try FileManager.default.removeItem(at: file) }
            #expect(end.resumeData == nil)
        }
    }

    /// The way in which a download stops with half of its file.
    enum Ending: CaseIterable, Sendable {
        case cut, cutAndGivenUp, cutAndRetried, occupied, garbled, cancelled, cancelledAndGivenUp, invalidated
        case awaitedAndCancelled
    }

    @Test(
        "[U-7.9, U-7.13] a download that fails leaves nothing", arguments: Ending.allCases,
        TestedHTTP.allCases)
    func failed(_ ending: Ending, over testedHTTP: TestedHTTP) async throws {
        try await HostileStage.with(over: testedHTTP) { stage in
            let url = stage.url("/file")
            let halfway = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n"
            switch ending {
            case .cut:
                serve(stage, Script([.send(halfway + "\r\n01234"), .close]))
                #expect(await stage.session.download(url).answered().resumeData == nil)
            case .cutAndGivenUp:
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
                    stage, Script([.send(halfway + "Content-Encoding: gzip\r\n\r\n0123456789"), .close]))
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
            case .cancelledAndGivenUp:
                let request = await running(stage)
                let data = await withCheckedContinuation { continuation in
                    _ = request.cancel(byProducingResumeData: { continuation.resume(returning: $0) })
                }
                URLSession.discardDownload(withResumeData: try #require(data))
            case .invalidated:
                _ = await running(stage)
            case .awaitedAndCancelled:
                stage.origin.answer("GET", "/file", ScriptPlan([Script([.send(Self.start), .stall])]))
                let address = try #require(URL(string: url))
                let (asked, ask) = AsyncStream<Void>.makeStream()
                let watcher = Watcher { ask.finish() }
                let waiting = Task {
                    try await stage.session.session.download(from: address, delegate: watcher)
                }
                for await _ in asked {}
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
        let (written, write) = AsyncStream<Void>.makeStream()
        let request = stage.session.download(stage.url("/file"))
            .downloadProgress(queue: DispatchQueue(label: "progress")) { progress in
                if progress.completedUnitCount == 5 { write.finish() }
            }
            .response(queue: DispatchQueue(label: "handler")) { _ in }
        for await _ in written {}
        return request
    }

    /// Reports the creation of a task.
    private final class Watcher: NSObject, URLSessionTaskDelegate, Sendable {
        let seen: @Sendable () -> Void

        init(_ seen: @escaping @Sendable () -> Void) { self.seen = seen }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { seen() }
    }

    /// The end of a request with a form that is sent from a file.
    enum Form: CaseIterable, Sendable { case sent, refused, cut, retried, cancelled, unreadable, invalidated }

    @Test("[UP-8] the file of a form is gone with its request", arguments: Form.allCases, TestedHTTP.allCases)
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
            let missing = stage.litter.url.appendingPathComponent("missing")
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
    private final class Breaking: URLProtocol {
        struct Broken: Error {}

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
            client?.urlProtocol(self, didFailWithError: Broken())
        }

        override func stopLoading() {}
    }

    @Test("[U-7.13] a part that no error can name is not kept", arguments: TestedHTTP.allCases) func unnamed(
        over testedHTTP: TestedHTTP
    ) async throws {
        try await HostileStage.with(over: testedHTTP) { configuration, _ in
            configuration.protocolClasses = [Breaking.self]
        } _: { stage in
            let end = await stage.session.download("http://breaking.test/").answered()
            #expect(end.error != nil && end.resumeData == nil)
        }
    }

    @Test(
        "[S-30] a session that goes takes its files with it", arguments: [false, true], TestedHTTP.allCases)
    func letGo(_ isForm: Bool, over testedHTTP: TestedHTTP) async throws {
        try await HostileStage.with(over: testedHTTP) { stage in
            let gate = stage.origin.gate("asked")
            stage.origin.answer(
                nil, "/held", ScriptPlan([Script([.send(Self.start), .signal("asked"), .stall])]))
            let configuration = try HostileStage.configuration(of: stage.origin)
            configuration.lupine.temporaryDirectory = stage.litter.url
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
