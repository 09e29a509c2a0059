// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Sessions against an origin server on this machine, through all layers.
struct WholeStackTests {
    /// Runs `body` with an origin and a session.
    private func withSession(
        over testedHTTP: TestedHTTP, _ delegate: (any URLSessionDelegate)? = nil,
        _ configuration: URLSessionConfiguration = .ephemeral,
        _ body: (URLSession, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        if testedHTTP == .http2 { serving.http2 = HTTP2Behaviour() }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        configuration.connectionProxyDictionary = [:]
        configuration.lupine.httpVersions = testedHTTP.versions
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let result: Result<Void, any Error>
        do { result = .success(try await body(session, origin)) } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    private func url(_ origin: LupineOrigin.Origin, _ path: String) throws -> URL {
        try #require(URL(string: origin.url + path))
    }

    @Test("[U-4.7] a response with its body", arguments: TestedHTTP.allCases)
    func data(_ testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let (data, response) = try await session.data(from: url(origin, "/bytes/1000?seed=1"))
            #expect(data.count == 1000)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(response.expectedContentLength == 1000)
            let (second, _) = try await session.data(from: url(origin, "/bytes/1000?seed=1"))
            #expect(second == data)
            #expect(
                origin.counts.connectionsAccepted == 1, "the second request goes on the first connection")
        }
    }

    @Test("[U-4.5] a body of many pieces is complete", arguments: TestedHTTP.allCases)
    func manyPieces(_ testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let (data, _) = try await session.data(from: url(origin, "/stream-bytes/3000000?seed=2"))
            #expect(data.count == 3_000_000)
        }
    }

    @Test("[U-7.3, U-7.4] an upload, echoed", arguments: TestedHTTP.allCases)
    func upload(_ testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            var request = URLRequest(url: try url(origin, "/post"))
            request.httpMethod = "POST"
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            let (data, _) = try await session.upload(for: request, from: Data("hello".utf8))
            let answer = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(answer["data"] as? String == "hello")
        }
    }

    @Test(
        "[U-5.1, U-5.7, T-7] the delegate calls of a redirected load, in order",
        arguments: TestedHTTP.allCases)
    func delegate(_ testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        try await withSession(over: testedHTTP, delegate) { session, origin in
            let task = session.dataTask(with: try url(origin, "/redirect/1"))
            task.resume()
            await delegate.log.wait(for: "complete")
            let entries = delegate.log.entries.map { $0.hasPrefix("data") ? "data" : $0 }
            #expect(
                entries.filter { !$0.hasPrefix("caches") } == [
                    "created 1", "redirect 302", "response 200", "data", "metrics", "complete nil",
                ])
            #expect(task.currentRequest?.url?.path() == "/get")
            #expect(task.originalRequest?.url?.path() == "/redirect/1")
        }
    }

    @Test(
        "[T-12] a refused redirect is the response, with its own body",
        arguments: TestedHTTP.allCases)
    func redirectNotFollowed(_ testedHTTP: TestedHTTP) async throws {
        final class RedirectRefuser: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) { completionHandler(nil) }
        }
        try await withSession(over: testedHTTP) { session, origin in
            let (data, response) = try await session.data(
                from: url(origin, "/redirect/1"), delegate: RedirectRefuser())
            #expect((response as? HTTPURLResponse)?.statusCode == 302)
            #expect(String(decoding: data, as: UTF8.self).contains("elsewhere"))
        }
    }

    struct Failure: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let url: String
        let code: URLError.Code
    }

    @Test(
        arguments: [
            Failure(testDescription: "[T-4, U-16.3] no scheme", url: "invalid", code: .unsupportedURL),
            Failure(
                testDescription: "[T-4] an unknown scheme", url: "gopher://localhost/",
                code: .unsupportedURL),
            Failure(
                testDescription: "[T-4] a refused connection", url: "http://127.0.0.1:1/",
                code: .cannotConnectToHost),
        ], TestedHTTP.allCases)
    func failures(_ row: Failure, _ testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        try await withSession(over: testedHTTP, delegate) { session, _ in
            session.dataTask(with: try #require(URL(string: row.url))).resume()
            await delegate.log.wait(for: "complete")
            #expect(delegate.log.entries == ["created 1", "metrics", "complete \(row.code.rawValue)"])
        }
    }

    @Test(
        "[U-6.6] an error has the URL, and a cancellation is recognisable",
        arguments: TestedHTTP.allCases)
    func cancelled(_ testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        try await withSession(over: testedHTTP, delegate) { session, origin in
            let task = session.dataTask(with: try url(origin, "/infinite"))
            task.resume()
            await delegate.log.wait(for: "data")
            task.cancel()
            await delegate.log.wait(for: "complete")
            let error = try #require(task.error as? URLError)
            #expect(error.code == .cancelled)
            #expect(error.failingURL == task.originalRequest?.url)
            #expect(error.localizedDescription == "cancelled")
            #expect(delegate.log.entries.suffix(2) == ["metrics", "complete -999"])
        }
    }

    @Test("[U-6.4] a suspended task stops and continues", arguments: TestedHTTP.allCases)
    func suspended(_ testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        try await withSession(over: testedHTTP, delegate) { session, origin in
            let task = session.dataTask(with: try url(origin, "/infinite"))
            task.resume()
            await delegate.log.wait(for: "data")
            task.suspend()
            #expect(task.state == .suspended)
            let before = delegate.log.entries.count
            task.resume()
            await delegate.log.wait(for: "data", count: before + 10)
            task.cancel()
            await delegate.log.wait(for: "complete -999")
        }
    }

    @Test(
        "[U-4.7] lines are read while the body arrives; a reader that stops pauses the server",
        arguments: TestedHTTP.allCases)
    func bytes(_ testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let (bytes, _) = try await session.bytes(from: url(origin, "/stream/50"))
            var count = 0
            for try await line in bytes.lines {
                #expect(line.hasPrefix("{"))
                count += 1
            }
            #expect(count == 50)
            let (endless, _) = try await session.bytes(from: url(origin, "/infinite"))
            var read = 0
            for try await _ in endless {
                read += 1
                if read == 1_000_000 { break }
            }
            #expect(read == 1_000_000)
        }
    }

    @Test(
        "[U-4.3] invalidation during loads completes each of them, then the session",
        arguments: TestedHTTP.allCases)
    func invalidation(_ testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        try await withSession(over: testedHTTP, delegate) { session, origin in
            for _ in 0..<10 { session.dataTask(with: try url(origin, "/infinite")).resume() }
            await delegate.log.wait(for: "data", count: 10)
            session.invalidateAndCancel()
            await delegate.log.wait(for: "invalid")
            #expect(delegate.log.entries.count { $0 == "complete -999" } == 10)
            #expect(delegate.log.entries.count { $0 == "metrics" } == 10)
            #expect(delegate.log.entries.last == "invalid true")
        }
    }

    @Test("many concurrent tasks each get their own response", arguments: TestedHTTP.allCases)
    func manyTasks(_ testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for count in 1...200 {
                    let url = try url(origin, "/bytes/\(count)")
                    group.addTask { (count, try await session.data(from: url).0.count) }
                }
                for try await (wanted, count) in group { #expect(wanted == count) }
            }
            #expect(origin.counts.connectionsAccepted <= 6, "[U-9.14] no more than the session may open")
        }
    }

    private final class TrustDelegate: NSObject, URLSessionTaskDelegate {
        let log = CallLog()
        let disposition: URLSession.AuthChallengeDisposition
        init(_ disposition: URLSession.AuthChallengeDisposition) { self.disposition = disposition }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            log.add(challenge.protectionSpace.authenticationMethod)
            completionHandler(
                disposition, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
    }

    @Test(
        "[U-5.9] an untrusted server: the delegate's task method decides whether it is trusted",
        arguments: [URLSession.AuthChallengeDisposition.useCredential, .performDefaultHandling])
    func serverTrust(_ disposition: URLSession.AuthChallengeDisposition) async throws {
        var serving = OriginConfiguration()
        serving.tls = TLSServerConfiguration(
            identities: [
                TLSServerIdentity(
                    try TLSIdentity(pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key")))
            ])
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        let delegate = TrustDelegate(disposition)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let result = await Task {
            try await session.data(from: url(origin, "/bytes/10")).0.count
        }.result
        #expect(delegate.log.entries == [NSURLAuthenticationMethodServerTrust])
        switch disposition {
        case .useCredential: #expect(try result.get() == 10)
        case .performDefaultHandling, .cancelAuthenticationChallenge, .rejectProtectionSpace:
            do {
                _ = try result.get()
                Issue.record("the server is not to be trusted")
            } catch let error as URLError {
                #expect(error.code == .serverCertificateUntrusted)
                #expect(error.failureURLPeerTrust != nil)
            }
        }
        session.invalidateAndCancel()
        await origin.shutdown()
    }

    @Test(
        "[U-4.3] the connections of an invalid session are closed, however long the program retains it")
    func invalidSessionHoldsNothing() async throws {
        let origin = try LupineOrigin.Origin.start()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration)
        _ = try await session.data(from: url(origin, "/bytes/10"))
        session.finishTasksAndInvalidate()
        while origin.counts.connectionsOpen > 0 { await Task.yield() }
        #expect(session.delegate == nil)
        await origin.shutdown()
    }

    @Test("[U-4.2] 200 sessions use as many threads as one, and leave no descriptor open")
    func manySessions() async throws {
        let origin = try LupineOrigin.Origin.start()
        let end = try await Program.run(
            CacheCrashTests.probe, ["sessions", origin.url + "/bytes/10", "200"],
            variables: DownloadMemoryTests.variables)
        #expect(end == .exited(0))
        await origin.shutdown()
    }

    @Test(
        "[U-7.15] a data task that becomes a download has its content in a file",
        arguments: TestedHTTP.allCases)
    func becomesDownload(_ testedHTTP: TestedHTTP) async throws {
        final class DownloadingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
            let log = CallLog()
            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
                completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
            ) {
                log.add("response \(dataTask.taskIdentifier)")
                completionHandler(.becomeDownload)
            }
            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask,
                didBecome downloadTask: URLSessionDownloadTask
            ) { log.add("become \(dataTask.taskIdentifier) \(downloadTask.taskIdentifier)") }
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                log.add("data")
            }
            func urlSession(
                _ session: URLSession, downloadTask: URLSessionDownloadTask,
                didFinishDownloadingTo location: URL
            ) {
                let count = (try? Data(contentsOf: location))?.count ?? -1
                log.add("file \(count)")
            }
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
            ) { log.add("complete \(task is URLSessionDownloadTask) \(error == nil)") }
        }
        let delegate = DownloadingDelegate()
        try await withSession(over: testedHTTP, delegate) { session, origin in
            session.dataTask(with: try url(origin, "/bytes/100000")).resume()
            await delegate.log.wait(for: "complete")
            #expect(
                delegate.log.entries == ["response 1", "become 1 1", "file 100000", "complete true true"])
        }
    }
}
