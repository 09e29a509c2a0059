// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// A scripted server, and a session with a delegate that records all calls of a stream task.
struct StreamStage {
    let session: URLSession
    let origin: LupineOrigin.Origin
    let delegate: StreamDelegate
    var log: CallLog { delegate.log }

    func task() -> URLSessionStreamTask {
        session.streamTask(withHostName: "good.test", port: Int(origin.port))
    }

    /// A delegate's answer to a challenge; nil for none.
    typealias Answer =
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)?

    /// Runs `body` with a server that follows the script on each connection.
    static func run(
        _ script: [Script.Step], leaf: String = "good", asksForIdentity: Bool = false,
        configure: (URLSessionConfiguration, LupineOrigin.Origin) -> Void = { _, _ in },
        answering answer: Answer? = nil, _ body: (StreamStage) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.tls = TLSServerConfiguration(
            identities: [
                TLSServerIdentity(
                    try TLSIdentity(pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key")))
            ])
        if asksForIdentity {
            serving.tls?.clientCertificates = .required(
                roots: try Certificate.pem(PKI.text("client-root.pem")))
        }
        serving.script = ScriptPlan([Script(script, on: .socket)])
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.lupine.addressOverrides[.init(host: "*", port: origin.port)] = [origin.address]
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        configure(configuration, origin)
        let delegate = StreamDelegate(answer)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(StreamStage(session: session, origin: origin, delegate: delegate)))
        } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await delegate.log.wait(for: "invalid")
        await origin.shutdown()
        try result.get()
    }
}

/// A delegate that records every call of a stream task, and answers challenges.
final class StreamDelegate: NSObject, URLSessionStreamDelegate, URLSessionDataDelegate {
    let log = CallLog()
    let streams = LockedValue<UncheckedSendable<(InputStream, OutputStream)>?>(nil)
    /// The stream task that a data task has become.
    let becameStream = LockedValue<URLSessionStreamTask?>(nil)
    private let answer: StreamStage.Answer?

    init(_ answer: StreamStage.Answer? = nil) { self.answer = answer }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        log.add("invalid")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        log.add("challenge \(space.authenticationMethod) \(space.host)")
        guard let answer else { return completionHandler(.performDefaultHandling, nil) }
        if let (disposition, credential) = answer(challenge) { completionHandler(disposition, credential) }
    }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        log.add("read closed")
    }
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        log.add("write closed")
    }
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        log.add("better route")
    }
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        streams.set(UncheckedSendable((inputStream, outputStream)))
        log.add("streams")
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        log.add("response")
        completionHandler(.becomeStream)
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        becameStream.set(streamTask)
        log.add("become \(dataTask.taskIdentifier) \(streamTask.taskIdentifier)")
    }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.add("data")
    }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { log.add("metrics \(metrics.transactionMetrics.count)") }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.add("complete \((error as? URLError).map { "\($0.code.rawValue)" } ?? "nil")")
    }
}

extension URLSessionStreamTask {
    /// Reads text; appends a full stop at the end of the stream.
    func text(_ minimum: Int = 1, _ maximum: Int = 1 << 20, timeout: TimeInterval = 0) async throws -> String
    {
        let (data, isAtEnd) = try await readData(ofMinLength: minimum, maxLength: maximum, timeout: timeout)
        return String(decoding: data ?? Data(), as: UTF8.self) + (isAtEnd ? "." : "")
    }

    func write(_ text: String) async throws { try await write(Data(text.utf8), timeout: 0) }

    /// Returns the code of the error with which a read fails.
    func failureOfReading(timeout: TimeInterval = 0) async -> URLError.Code? {
        do {
            _ = try await readData(ofMinLength: 1, maxLength: 1, timeout: timeout)
            return nil
        } catch { return (error as? URLError)?.code }
    }

    func failureOfWriting(_ count: Int = 1, timeout: TimeInterval = 0) async -> URLError.Code? {
        do {
            try await write(Data(count: count), timeout: timeout)
            return nil
        } catch { return (error as? URLError)?.code }
    }
}
