// SPDX-License-Identifier: MIT

internal import Foundation

/// A question to the client about the response of a hop.
enum HopQuestion: Sendable {
    /// Whether to follow a server's redirect.
    case redirect(HTTPURLResponse, RedirectRule.Proposal)
    /// Whether to follow the redirect of a program's `URLProtocol`.
    case protocolRedirect(URLResponse, URLRequest)
    /// How to answer the challenge of a server or proxy. `refusal` is the error of a proxy that has refused a tunnel: the task
    /// fails with it if the client gives no answer. Nil if there is a response to deliver.
    case challenge(URLAuthenticationChallenge, refusal: URLError?)

    /// The client's answer to a question.
    enum Answer: Sendable {
        /// The request to send next; nil to deliver the redirect itself.
        case redirect(URLRequest?)
        case challenge(Authenticator.Answer)
    }

    /// Asks the client. Calls `reply` with the answer, during this call or later, on any thread.
    func ask(_ client: any TaskDriverClient, reply: @escaping @Sendable (Answer) -> Void) {
        switch self {
        case .redirect(let response, let proposal):
            client.driverWillRedirect(response, to: proposal.request) { reply(.redirect($0)) }
        case .protocolRedirect(let response as HTTPURLResponse, let request):
            client.driverWillRedirect(response, to: request) { reply(.redirect($0)) }
        // The client is asked only about HTTP responses; other redirects are followed.
        case .protocolRedirect(_, let request): reply(.redirect(request))
        case .challenge(let challenge, _):
            client.driverChallenged(challenge) { reply(.challenge(.init($0, $1))) }
        }
    }
}

extension Authenticator.Answer {
    /// Creates the answer of a delegate.
    fileprivate init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        self =
            switch disposition {
            case .useCredential: .use(credential)
            case .performDefaultHandling: .performDefault
            case .cancelAuthenticationChallenge: .cancel
            case .rejectProtectionSpace: .rejectSpace
            }
    }
}

/// The questions of one load to its client. At most one is open at a time. The questions are numbered, so that answers to earlier
/// questions, and second answers, are recognized.
struct LoadQuestions: Sendable {
    /// The question that the client has not answered; nil if there is none.
    var open: HopQuestion?
    /// The number of the last question.
    private var lastNumber = 0

    /// Returns the number of a question that is asked now.
    mutating func begin() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Whether this is the first answer to the last question.
    mutating func end(_ number: Int) -> Bool {
        guard number == lastNumber else { return false }
        // The new number makes a second answer stale.
        lastNumber += 1
        return true
    }
}

/// The effect of the client's answer to a question.
struct AnswerEvaluation: Sendable {
    /// What the next hop is made from.
    var basis: HopBasis
    private(set) var decision = HopMachine.ResponseDecision.deliver
    /// The next question; nil for none.
    var question: HopQuestion?
    /// The request of the redirect that is followed; nil for none.
    private(set) var followedRequest: URLRequest?

    /// Evaluates an answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - question: The question.
    ///   - basis: What the current hop was made from.
    ///   - sentRequest: The request of the current hop, as it was sent.
    ///   - credential: The credential that the program has set on the task.
    ///   - options: The options that define whether a redirect from https to http is followed. Evaluated only for a redirect.
    init(
        _ answer: HopQuestion.Answer, to question: HopQuestion, _ basis: HopBasis, sentRequest: URLRequest,
        _ credential: URLCredential?, _ options: @autoclosure () -> URLSessionConfiguration.LupineOptions
    ) {
        self.basis = basis
        switch (question, answer) {
        case (.redirect, .redirect(nil)): decision = .deliver
        case (.redirect(_, let proposal), .redirect(let request?)): follow(request, proposal, options())
        case (.protocolRedirect, .redirect(nil)): decision = .deliverWithoutContent
        case (.protocolRedirect, .redirect(let request?)):
            follow(request.removingFields(addedTo: basis.request, in: sentRequest), nil, options())
        case (.challenge(_, let refusal), .challenge(let answer)):
            guard let outcome = self.basis.authentication?.receive(answer, credential, refusal: refusal)
            else { return }
            (decision, self.question) = outcome
        // Not reached: each question is answered in kind.
        case (.redirect, .challenge), (.protocolRedirect, .challenge), (.challenge, .redirect): break
        }
    }

    /// Follows a redirect, unless the options forbid it: the next hop sends `request` without further changes for the redirect
    /// (U-10.8).
    private mutating func follow(
        _ request: URLRequest, _ proposal: RedirectRule.Proposal?,
        _ options: URLSessionConfiguration.LupineOptions
    ) {
        let previousURL = basis.request.url
        if let refusal = RedirectRule.refusal(of: request.url, from: previousURL, options) {
            decision = .fail(refusal)
            return
        }
        basis.follow(ApprovedRedirect(to: request, insteadOf: proposal, from: previousURL))
        decision = .nextHop
        followedRequest = request
    }
}
