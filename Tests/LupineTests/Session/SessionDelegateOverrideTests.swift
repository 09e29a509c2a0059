// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import Lupine

/// Subclasses of `SessionDelegate` that answer challenges for the whole session, or override methods that the pipeline does not
/// use.
struct SessionDelegateOverrideTests {
    /// Answers the challenges of connections for all tasks, or calls the superclass for the answer.
    private final class AnsweringDelegate: SessionDelegate, @unchecked Sendable {
        enum Answer: CaseIterable {
            case use, reject, cancel, performDefault, callSuper
        }

        let answer: Answer
        let identity: URLCredential?
        /// The authentication methods of the challenges.
        let challenges = ValueLog<String>()

        init(_ answer: Answer, identity: URLCredential? = nil) {
            self.answer = answer
            self.identity = identity
            super.init()
        }

        override func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            challenges.add(space.authenticationMethod)
            switch answer {
            case .use:
                completionHandler(
                    .useCredential, space.serverTrust.map { URLCredential(trust: $0) } ?? identity)
            case .reject: completionHandler(.rejectProtectionSpace, nil)
            case .cancel: completionHandler(.cancelAuthenticationChallenge, nil)
            case .performDefault: completionHandler(.performDefaultHandling, nil)
            case .callSuper:
                super.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
            }
        }
    }

    /// The result of a request.
    private enum Outcome: Equatable {
        case status(Int)
        case code(URLError.Code)
        /// An evaluator refused.
        case refused
        case other

        init(_ response: AFDataResponse<Data?>) {
            if let status = response.response?.statusCode {
                self = .status(status)
            } else if response.error?.isServerTrustEvaluationError == true {
                self = .refused
            } else if let code = (response.error?.underlyingError as? URLError)?.code {
                self = .code(code)
            } else {
                self = .other
            }
        }
    }

    private struct RefusingEvaluator: ServerTrustEvaluating {
        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
        }
    }

    @Test(
        "[D-7, U-5.9] an answer for the session takes precedence over evaluators; `super` calls the evaluators",
        arguments: TestedHTTP.allCases
    )
    func trust(over testedHTTP: TestedHTTP) async throws {
        let evaluators: [(String, any ServerTrustEvaluating)] = [
            ("accepting", DisabledTrustEvaluator()), ("refusing", RefusingEvaluator()),
        ]
        for (leaf, isTrusted) in [("good", true), ("self-signed", false)] {
            for answer in AnsweringDelegate.Answer.allCases {
                for (name, evaluator) in evaluators {
                    let delegate = AnsweringDelegate(answer)
                    let host = "\(leaf).test"
                    let setUp = PipelineSetUp(
                        trust: ServerTrustManager(evaluators: [host: evaluator]), leaf: leaf,
                        delegate: delegate)
                    let expected: Outcome =
                        switch answer {
                        case .use: .status(200)
                        case .reject: .code(.serverCertificateUntrusted)
                        case .cancel: .code(.cancelled)
                        case .performDefault: isTrusted ? .status(200) : .code(.serverCertificateUntrusted)
                        case .callSuper: name == "accepting" ? .status(200) : .refused
                        }
                    try await withPipeline(setUp, over: testedHTTP) { stage in
                        let response = await stage.session.request(stage.url(host: host)).answered()
                        #expect(Outcome(response) == expected, "\(leaf), \(answer), \(name)")
                        #expect(delegate.challenges.all == [NSURLAuthenticationMethodServerTrust])
                    }
                }
            }
        }
    }

    @Test(
        "[D-7, I-8.1] an identity that answers for the session takes precedence over the request's credential",
        arguments: TestedHTTP.allCases)
    func identity(over testedHTTP: TestedHTTP) async throws {
        let roots = try Certificate.pem(PKI.text("client-root.pem"))
        let identity = try SecIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        let chain = try TrustFixture.certificates("client-rsa-chain")
        let credential = URLCredential(
            identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
        let delegate = AnsweringDelegate(.use, identity: credential)
        var setUp = PipelineSetUp(leaf: "good", delegate: delegate)
        setUp.secure = { $0.clientCertificates = .required(roots: roots) }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let response = await stage.session.request(stage.url(host: "good.test"))
                .authenticate(username: "user", password: "password").answered()
            #expect(response.response?.statusCode == 200)
            #expect(
                delegate.challenges.all == [
                    NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
                ])
        }
    }

    @Test(
        "[D-7] a challenge for a user name and password never reaches the session's method",
        arguments: TestedHTTP.allCases)
    func password(over testedHTTP: TestedHTTP) async throws {
        let delegate = AnsweringDelegate(.cancel)
        try await withPipeline(PipelineSetUp(delegate: delegate), over: testedHTTP) { stage in
            let response = await stage.get("/basic-auth/user/password")
                .authenticate(username: "user", password: "password").answered()
            #expect(response.response?.statusCode == 200 && delegate.challenges.all.isEmpty)
        }
    }

    /// Records the calls of methods that the pipeline does not use.
    private final class RecordingDelegate: SessionDelegate, @unchecked Sendable {
        let heard = ValueLog<String>()

        override func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            heard.add("created")
            super.urlSession(session, didCreateTask: task)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            heard.add("informed: \(response.statusCode)")
            super.urlSession(session, task: task, didReceiveInformationalResponse: response)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(.becomeDownload)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            didBecome downloadTask: URLSessionDownloadTask
        ) {
            heard.add("became a download")
            super.urlSession(session, dataTask: dataTask, didBecome: downloadTask)
        }
    }

    @Test(
        "[D-7] overrides receive events that the pipeline ignores: task creation, 103, conversion to a download",
        arguments: TestedHTTP.allCases)
    func ignoredEvents(over testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        try await withPipeline(PipelineSetUp(delegate: delegate), over: testedHTTP) { stage in
            stage.origin.answer(
                "GET", "/hints",
                ScriptPlan(
                    .send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                    .close))
            let request = stage.get("/hints")
            request.resume()
            let heard = await delegate.heard.wait(for: 3)
            #expect(heard == ["created", "informed: 103", "became a download"])
            request.cancel()
        }
    }

    /// Supplies a body stream for every task.
    private final class StreamingDelegate: SessionDelegate, @unchecked Sendable {
        override func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(InputStream(data: Data("body".utf8)))
        }
    }

    @Test(
        "[D-7] without an override, a stream from offset 0 is the whole stream, and from later offsets there is none",
        arguments: TestedHTTP.allCases
    )
    func streams(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(delegate: StreamingDelegate()), over: testedHTTP) { stage in
            let task = stage.session.session.dataTask(with: try #require(URL(string: stage.url())))
            for (offset, expected) in [(Int64(0), true), (1, false)] {
                let answer = ValueLog<Bool>()
                stage.session.delegate.urlSession(
                    stage.session.session, task: task, needNewBodyStreamFrom: offset
                ) { answer.add($0 != nil) }
                #expect(await answer.wait(for: 1) == [expected], "from \(offset)")
            }
        }
    }
}
