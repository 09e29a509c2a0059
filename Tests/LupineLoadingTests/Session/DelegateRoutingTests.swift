// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// The order of delegates: a task's before the session's, the method for sessions before the one for tasks.
struct DelegateRoutingTests {
    private typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private final class SessionLevel: NSObject, URLSessionDelegate {
        let log: CallLog
        init(_ log: CallLog) { self.log = log }
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            log.add("session")
            completionHandler(.rejectProtectionSpace, nil)
        }
    }

    private final class TaskLevel: NSObject, URLSessionTaskDelegate {
        let log: CallLog
        let name: String
        init(_ log: CallLog, _ name: String = "task") { (self.log, self.name) = (log, name) }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            log.add(name)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    private final class Both: NSObject, URLSessionTaskDelegate {
        let log: CallLog
        init(_ log: CallLog) { self.log = log }
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            log.add("session")
            completionHandler(.rejectProtectionSpace, nil)
        }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            log.add("task")
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    private final class DelegateWithoutMethods: NSObject, URLSessionTaskDelegate {}

    /// Wraps another delegate, and answers later from another thread.
    private final class Wrapper: NSObject, URLSessionTaskDelegate {
        let inner = DelegateWithoutMethods()
        let log: CallLog
        init(_ log: CallLog) { self.log = log }
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            log.add("wrapper")
            DispatchQueue.global().async {
                self.inner.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
            }
        }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            log.add("task")
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    enum DelegateKind: String, Sendable { case nobody, sessionLevel, taskLevel, both, neither, wrapper }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let own: DelegateKind
        let session: DelegateKind
        let method: String
        let expectedCalls: [String]
        let answer: URLSession.AuthChallengeDisposition
    }

    static let rows = [
        Row(
            testDescription: "[U-5.9] server trust goes to the session level", own: .nobody, session: .both,
            method: NSURLAuthenticationMethodServerTrust, expectedCalls: ["session"],
            answer: .rejectProtectionSpace),
        Row(
            testDescription:
                "[U-5.9] server trust goes to the task level if the session level is not implemented",
            own: .nobody, session: .taskLevel, method: NSURLAuthenticationMethodServerTrust,
            expectedCalls: ["task"],
            answer: .cancelAuthenticationChallenge),
        Row(
            testDescription: "[U-5.9] a client certificate challenge goes the same way", own: .nobody,
            session: .taskLevel,
            method: NSURLAuthenticationMethodClientCertificate, expectedCalls: ["task"],
            answer: .cancelAuthenticationChallenge),
        Row(
            testDescription: "[U-5.9] a delegate without task methods gets the server trust challenge",
            own: .nobody,
            session: .sessionLevel, method: NSURLAuthenticationMethodServerTrust, expectedCalls: ["session"],
            answer: .rejectProtectionSpace),
        Row(
            testDescription: "[U-5.9] Basic goes to the task level only", own: .nobody, session: .both,
            method: NSURLAuthenticationMethodHTTPBasic, expectedCalls: ["task"],
            answer: .cancelAuthenticationChallenge),
        Row(
            testDescription: "[U-5.9] Digest does not go to the session level", own: .nobody,
            session: .sessionLevel, method: NSURLAuthenticationMethodHTTPDigest, expectedCalls: [],
            answer: .performDefaultHandling),
        Row(
            testDescription: "[U-5.11] a challenge that no method handles gets the default handling",
            own: .nobody,
            session: .neither, method: NSURLAuthenticationMethodServerTrust, expectedCalls: [],
            answer: .performDefaultHandling),
        Row(
            testDescription: "[U-5.8] a task's own delegate is called first", own: .taskLevel,
            session: .both, method: NSURLAuthenticationMethodHTTPBasic, expectedCalls: ["own"],
            answer: .cancelAuthenticationChallenge),
        Row(
            testDescription:
                "[U-5.8] a method that the task's delegate does not implement is called on the session's",
            own: .neither,
            session: .both, method: NSURLAuthenticationMethodHTTPBasic, expectedCalls: ["task"],
            answer: .cancelAuthenticationChallenge),
        Row(
            testDescription: "[U-5.8, U-5.9] server trust, too: session level before task level",
            own: .neither,
            session: .both, method: NSURLAuthenticationMethodServerTrust, expectedCalls: ["session"],
            answer: .rejectProtectionSpace),
        Row(
            testDescription:
                "[U-5.9] a wrapper of a delegate without the method passes the challenge on, even asynchronously",
            own: .nobody,
            session: .wrapper, method: NSURLAuthenticationMethodServerTrust,
            expectedCalls: ["wrapper", "task"],
            answer: .cancelAuthenticationChallenge),
    ]

    @Test(arguments: rows)
    func challenge(_ row: Row) async {
        let log = CallLog()
        let loads = ScriptedLoadSource()
        let session = loads.session(delegate(row.session, log))
        let task = session.dataTask(with: someURL())
        task.delegate =
            row.own == .taskLevel
            ? TaskLevel(log, "own") : delegate(row.own, log) as? any URLSessionTaskDelegate
        task.resume()
        let load = await loads.load()
        let challenge = URLAuthenticationChallenge(
            space: URLProtectionSpace(
                host: "localhost", port: 80, protocol: "http", realm: nil, authenticationMethod: row.method),
            credential: nil, failures: 0, response: nil)
        let answers = LockedValue(0)
        let answer = await withCheckedContinuation { continuation in
            load.client.driverChallenged(challenge) { disposition, credential in
                answers.update { $0 += 1 }
                continuation.resume(returning: (disposition, credential))
            }
        }
        #expect(answer.0 == row.answer)
        #expect(answer.1 == nil)
        #expect(log.entries == row.expectedCalls)
        #expect(answers.value == 1)
        session.invalidateAndCancel()
    }

    private func delegate(_ kind: DelegateKind, _ log: CallLog) -> (any URLSessionDelegate)? {
        switch kind {
        case .nobody: nil
        case .sessionLevel: SessionLevel(log)
        case .taskLevel: TaskLevel(log)
        case .both: Both(log)
        case .neither: DelegateWithoutMethods()
        case .wrapper: Wrapper(log)
        }
    }

    @Test("[U-5.8] methods that the task's delegate does not implement are called on the session's delegate")
    func methodByMethod() async {
        final class Own: NSObject, URLSessionDataDelegate {
            let log: CallLog
            init(_ log: CallLog) { self.log = log }
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                log.add("own data")
            }
        }
        let log = CallLog()
        let loads = ScriptedLoadSource()
        let session = loads.session(RecordingDelegate(log))
        let task = session.dataTask(with: someURL())
        task.delegate = Own(log)
        await log.wait(for: "created")
        task.resume()
        task.delegate = RecordingDelegate(log, name: "late ")
        await loads.load().answer("hello")
        await log.wait(for: "complete")
        #expect(
            log.entries == ["created 1", "response 200", "own data", "metrics", "complete nil"],
            "a delegate that is set after the first resume does not count")
        session.invalidateAndCancel()
    }

    @Test("[U-5.8] one object as both delegates is called once")
    func bothInOne() async {
        let log = CallLog()
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate(log)
        let session = loads.session(delegate)
        let task = session.dataTask(with: someURL())
        task.delegate = delegate
        task.resume()
        await loads.load().answer("hello")
        await log.wait(for: "complete")
        #expect(log.entries == ["created 1", "response 200", "data hello", "metrics", "complete nil"])
        session.invalidateAndCancel()
    }

    @Test(
        "[U-5.10] a challenge that is cancelled during its call is answered; a late answer is ignored"
    )
    func cancelledChallenge() async {
        final class UnansweringDelegate: NSObject, URLSessionTaskDelegate {
            typealias Handler = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            let handler = LockedValue<Handler?>(nil)
            let log = CallLog()
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                completionHandler:
                    @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                handler.set(completionHandler)
                log.add("asked")
            }
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
            ) {
                log.add("complete")
            }
        }
        let delegate = UnansweringDelegate()
        let loads = ScriptedLoadSource()
        let session = loads.session(delegate)
        let task = session.dataTask(with: someURL())
        task.resume()
        let load = await loads.load()
        let challenge = URLAuthenticationChallenge(
            space: URLProtectionSpace(
                host: "localhost", port: 80, protocol: "http", realm: nil,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic),
            credential: nil, failures: 0, response: nil)
        let answers = CallLog()
        load.client.driverChallenged(challenge) { disposition, _ in answers.add("\(disposition)") }
        await delegate.log.wait(for: "asked")
        task.cancel()
        await delegate.log.wait(for: "complete")
        delegate.handler.value?(.useCredential, nil)
        // Breaks a cycle: the handler holds the task, and the task's session the delegate that holds the handler.
        delegate.handler.set(nil)
        #expect(answers.entries == ["cancelAuthenticationChallenge"])
        session.invalidateAndCancel()
    }
}
