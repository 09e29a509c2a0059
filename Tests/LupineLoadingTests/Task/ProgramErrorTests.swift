// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// A program's own errors: it gets them back as the same values, however the task was performed and awaited.
@Suite(.timeLimit(.minutes(10)))
struct ProgramErrorTests {
    struct OwnError: Error, Equatable { var number = 7 }
    enum OwnCase: Error, Equatable { case broken(at: String) }
    final class OwnObject: Error, Sendable {}
    static let object = OwnObject()

    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let error: any Error
        /// True for that error, but not for a copy of its domain and code.
        let isSame: @Sendable (any Error) -> Bool
    }

    static let kinds: [Kind] = [
        Kind(testDescription: "a structure", error: OwnError()) { $0 as? OwnError == OwnError() },
        Kind(testDescription: "an enumeration", error: OwnCase.broken(at: "x")) {
            $0 as? OwnCase == .broken(at: "x")
        },
        Kind(testDescription: "an object", error: object) { $0 as? OwnObject === object },
        Kind(testDescription: "an NSError", error: NSError(domain: "own", code: 9, userInfo: ["a": "b"])) {
            let error = $0 as NSError
            return error.domain == "own" && error.code == 9 && error.userInfo["a"] as? String == "b"
        },
        Kind(testDescription: "a URLError", error: URLError(.dataNotAllowed, userInfo: ["own": 1])) {
            ($0 as? URLError)?.code == .dataNotAllowed && ($0 as? URLError)?.userInfo["own"] as? Int == 1
        },
        Kind(testDescription: "a CocoaError", error: CocoaError(.fileNoSuchFile)) {
            ($0 as? CocoaError)?.code == .fileNoSuchFile
        },
        Kind(testDescription: "a cancellation", error: CancellationError()) { $0 is CancellationError },
    ]

    /// A way for a program to wait for a load.
    enum Form: String, CaseIterable, Sendable {
        case handler, upload, download, data, uploadAsync, downloadAsync, bytes, delegate, downloadDelegate

        func load(_ request: URLRequest, in session: URLSession) async -> (any Error)? {
            switch self {
            case .handler:
                await withCheckedContinuation { done in
                    session.dataTask(with: request) { done.resume(returning: $2) }.resume()
                }
            case .upload:
                await withCheckedContinuation { done in
                    session.uploadTask(with: request, from: Data("x".utf8)) { done.resume(returning: $2) }
                        .resume()
                }
            case .download:
                await withCheckedContinuation { done in
                    session.downloadTask(with: request) { done.resume(returning: $2) }.resume()
                }
            case .data: await Self.error { _ = try await session.data(for: request) }
            case .uploadAsync:
                await Self.error { _ = try await session.upload(for: request, from: Data("x".utf8)) }
            case .downloadAsync: await Self.error { _ = try await session.download(for: request) }
            case .bytes:
                await Self.error {
                    for try await _ in try await session.bytes(for: request).0 {}
                }
            case .delegate: await EndRecorder().end(of: session.dataTask(with: request))
            case .downloadDelegate: await EndRecorder().end(of: session.downloadTask(with: request))
            }
        }

        private static func error(_ body: () async throws -> Void) async -> (any Error)? {
            do {
                try await body()
                return nil
            } catch { return error }
        }
    }

    /// A delegate that records the end of its task.
    final class EndRecorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
        private let ended = Gate()
        private let error = LockedValue<(any Error)?>(nil)

        func end(of task: URLSessionTask) async -> (any Error)? {
            task.delegate = self
            task.resume()
            await ended.wait()
            #expect((task.error == nil) == (error.value == nil))
            return error.value
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            self.error.set(error)
            ended.open()
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {}
    }

    @Test(
        "[U-16.4, U-17.5] the error of a URLProtocol is the task's error",
        arguments: kinds, Form.allCases)
    func protocols(_ kind: Kind, _ form: Form) async throws {
        for isLate in [false, true] {
            let (host, _) = ScriptedProtocol.register { loader in
                if isLate {
                    loader.respond(200)
                    loader.load("the beginning")
                }
                loader.fail(kind.error)
            }
            let error = try await ProtocolSessionTests.withSession { session in
                await form.load(try ProtocolSessionTests.request("http", host), in: session)
            }
            #expect(error.map(kind.isSame) == true, "\(String(describing: error)), late: \(isLate)")
        }
    }

    @Test(
        "[U-16.4] the error of a URLProtocol, after the response has become a download or a stream",
        arguments: kinds)
    func conversions(_ kind: Kind) async throws {
        for disposition in [URLSession.ResponseDisposition.becomeDownload, .becomeStream] {
            let mayContinue = Gate()
            let (host, _) = ScriptedProtocol.register { loader in
                loader.respond(200)
                let loader = UncheckedSendable(loader)
                Task {
                    await mayContinue.wait()
                    loader.value.fail(kind.error)
                }
            }
            let converter = Converter(disposition)
            let error = try await ProtocolSessionTests.withSession { session -> (any Error)? in
                let task = session.dataTask(with: try ProtocolSessionTests.request("http", host))
                task.delegate = converter
                task.resume()
                await converter.converted.wait()
                mayContinue.open()
                await converter.ended.wait()
                if let stream = converter.stream.value {
                    let read = await withCheckedContinuation { done in
                        stream.readData(ofMinLength: 1, maxLength: 10, timeout: 0) { _, _, error in
                            done.resume(returning: error)
                        }
                    }
                    #expect(read.map(kind.isSame) == true, "\(String(describing: read))")
                }
                return converter.error.value
            }
            #expect(error.map(kind.isSame) == true, "\(String(describing: error))")
        }
    }

    private final class Converter: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
        let disposition: URLSession.ResponseDisposition
        let converted = Gate()
        let ended = Gate()
        let stream = LockedValue<URLSessionStreamTask?>(nil)
        let error = LockedValue<(any Error)?>(nil)

        init(_ disposition: URLSession.ResponseDisposition) { self.disposition = disposition }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) { completionHandler(disposition) }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            didBecome downloadTask: URLSessionDownloadTask
        ) { converted.open() }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
        ) {
            stream.set(streamTask)
            converted.open()
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            self.error.set(error)
            ended.open()
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {}
    }

    @Test(
        "[U-16.4] the error of a body stream is the task's error",
        arguments: kinds, TestedHTTP.allCases)
    func bodyStreams(_ kind: Kind, over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(.expectHead, .stall)
        try await withStage(plan, delegate: StreamSupplier(kind.error), over: testedHTTP) { stage in
            var request = URLRequest(url: try stage.url())
            request.httpMethod = "POST"
            let streamed = stage.session.uploadTask(withStreamedRequest: request)
            let asked = await EndRecorder().end(of: streamed)
            #expect(asked.map(kind.isSame) == true, "\(String(describing: asked))")
            request.httpBodyStream = BrokenStream(kind.error)
            let own = await Form.handler.load(request, in: stage.session)
            #expect(own.map(kind.isSame) == true, "\(String(describing: own))")
        }
    }

    private final class StreamSupplier: NSObject, URLSessionTaskDelegate, Sendable {
        private let error: any Error

        init(_ error: any Error) { self.error = error }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) { completionHandler(BrokenStream(error)) }
    }

    @Test("[U-6.5] a cancelled task completes as cancelled, whatever its protocol reports")
    func cancelled() async throws {
        let task = LockedValue<URLSessionTask?>(nil)
        let (host, _) = ScriptedProtocol.register { loader in
            task.value?.cancel()
            loader.fail(OwnError())
        }
        let error = try await ProtocolSessionTests.withSession { session -> (any Error)? in
            let request = try ProtocolSessionTests.request("http", host)
            return await withCheckedContinuation { done in
                let made = session.dataTask(with: request) { done.resume(returning: $2) }
                task.set(made)
                made.resume()
            }
        }
        #expect((error as? URLError)?.code == .cancelled)
    }
}

/// A body stream that fails after three bytes.
final class BrokenStream: InputStream {
    private let error: any Error
    private var remaining = 3

    init(_ error: any Error) {
        self.error = error
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { remaining == 3 ? .notOpen : .open }
    override var streamError: (any Error)? { error }
    override var hasBytesAvailable: Bool { true }
    override func open() {}
    override func close() {}
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard remaining > 0 else { return -1 }
        remaining -= 1
        unsafe buffer.pointee = 0x61
        return 1
    }
}
