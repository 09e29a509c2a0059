// SPDX-License-Identifier: MIT

public import Foundation

/// Who waits for the answer to a challenge. The methods are the dispositions of a delegate's completion handler; exactly
/// one is to be called, from any thread.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Goes on with a credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Goes on without a credential: the response that asked is the final one.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Ends the load.
    func cancel(_ challenge: URLAuthenticationChallenge)
    /// Does what is done when nobody answers.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Goes on with the next way to authenticate that was offered.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

extension URLAuthenticationChallengeSender {
    /// Uses the proposed credential if it has a password, else none.
    public func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        if let credential = challenge.proposedCredential, credential.hasPassword {
            use(credential, for: challenge)
        } else {
            continueWithoutCredential(for: challenge)
        }
    }

    /// Goes on without a credential.
    public func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }
}

/// A question of a server's or a proxy's: who are you? Also the question whether a server is who it says it is.
///
/// Immutable, and any thread's.
public final class URLAuthenticationChallenge: NSObject, Sendable {
    /// What a credential is wanted for.
    public let protectionSpace: URLProtectionSpace
    /// What would be answered by default; nil when there is nothing, or when it was refused already.
    public let proposedCredential: URLCredential?
    /// How many answers of this task's were refused in this space.
    public let previousFailureCount: Int
    /// The response that asks, or that refused the last answer.
    public let failureResponse: URLResponse?
    /// Why the last answer failed, where it was not a response that said so.
    public let error: (any Error)?
    /// Who waits for the answer.
    public let sender: (any URLAuthenticationChallengeSender)?

    /// A challenge of these values.
    ///
    /// - Parameters:
    ///   - space: What a credential is wanted for.
    ///   - credential: What would be answered by default.
    ///   - previousFailureCount: How many answers were refused.
    ///   - response: The response that asks.
    ///   - error: Why the last answer failed.
    ///   - sender: Who waits for the answer.
    public convenience init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
        previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            space: space, credential: credential, failures: previousFailureCount, response: response,
            error: error, sender: sender)
    }

    /// The same challenge for another sender.
    public convenience init(
        authenticationChallenge challenge: URLAuthenticationChallenge,
        sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            space: challenge.protectionSpace, credential: challenge.proposedCredential,
            failures: challenge.previousFailureCount, response: challenge.failureResponse,
            error: challenge.error, sender: sender)
    }

    /// A challenge that a completion handler answers: it needs no sender.
    package init(
        space: URLProtectionSpace, credential: URLCredential?, failures: Int, response: URLResponse?,
        error: (any Error)? = nil, sender: (any URLAuthenticationChallengeSender)? = nil
    ) {
        protectionSpace = space
        proposedCredential = credential
        previousFailureCount = failures
        failureResponse = response
        self.error = error
        self.sender = sender
    }

    /// The space and how many answers were refused.
    public override var description: String {
        "<URLAuthenticationChallenge of \(protectionSpace), \(previousFailureCount) failures>"
    }
}
