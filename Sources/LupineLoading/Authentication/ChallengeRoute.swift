// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// What somebody answered to a challenge.
struct ChallengeAnswer: Sendable {
    var disposition: URLSession.AuthChallengeDisposition
    var credential: URLCredential?
}

/// The way of a challenge through the delegates until one answers (U-5.8, U-5.9).
///
/// A question about the connection goes to the method for sessions first, then to the one for tasks; others go to the
/// method for tasks only; each of the task's own delegate before the session's. A default implementation answers
/// `URLCredential.notImplemented`: the next one is asked. Nobody is asked twice.
struct ChallengeRoute: Sendable {
    private typealias Handler = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    private enum Stop: Sendable {
        case session(any URLSessionDelegate)
        case task(any URLSessionTaskDelegate)
    }
    /// What has become of the call of one stop.
    private enum Call { case running, passed, over }

    private let challenge: URLAuthenticationChallenge
    private let stage: TaskStage
    private let queue: DelegateQueue
    private let answer: @Sendable (ChallengeAnswer) -> Void
    private let stops: [Stop]

    /// - Parameter queue: Where a stop is called when the one before it has passed on late.
    init(
        _ challenge: URLAuthenticationChallenge, stage: TaskStage, queue: DelegateQueue,
        answer: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        self.challenge = challenge
        self.stage = stage
        self.queue = queue
        self.answer = answer
        let isAboutConnection = Self.connectionMethods.contains(
            challenge.protectionSpace.authenticationMethod)
        var stops: [Stop] = []
        for delegates in [stage.delegates.own, stage.delegates.session].compactMap({ $0 }) {
            if isAboutConnection { stops.append(.session(delegates.session)) }
            if let task = delegates.task { stops.append(.task(task)) }
        }
        self.stops = stops
    }

    private static let connectionMethods: Set = [
        NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
        NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]

    /// Asks one after the other, on the delegate queue.
    func ask() { ask(from: 0) }

    private func ask(from first: Int) {
        for index in stops.indices.dropFirst(first) {
            let call = CallState()
            ask(stops[index]) { disposition, credential in
                guard credential === URLCredential.notImplemented else {
                    return answer(ChallengeAnswer(disposition: disposition, credential: credential))
                }
                if call.pass() { queue.add { ask(from: index + 1) } }
            }
            guard call.hasPassed() else { return }
        }
        answer(ChallengeAnswer(disposition: .performDefaultHandling))
    }

    private func ask(_ stop: Stop, _ handler: @escaping Handler) {
        switch stop {
        case .session(let delegate):
            delegate.urlSession(stage.session, didReceive: challenge, completionHandler: handler)
        case .task(let delegate):
            delegate.urlSession(
                stage.session, task: stage.task, didReceive: challenge, completionHandler: handler)
        }
    }

    /// Whether one stop has passed on while it was called, or does so later.
    private final class CallState: Sendable {
        private let state = Lock(Call.running)

        /// Returns whether the call is over, so that the next stop has to be called from here.
        func pass() -> Bool {
            state.withLock { state in
                defer { state = .passed }
                return state == .over
            }
        }

        func hasPassed() -> Bool {
            state.withLock { state in
                if state == .passed { return true }
                state = .over
                return false
            }
        }
    }
}
