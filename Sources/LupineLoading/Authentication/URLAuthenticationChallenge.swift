// SPDX-License-Identifier: MIT

public import Foundation

/// Receives the answer to a challenge. The methods correspond to the dispositions that a delegate passes to its completion
/// handler. Call exactly one of them, on any thread.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Continues with a credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Continues without a credential: the response with the challenge becomes the final one.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Ends the load.
    func cancel(_ challenge: URLAuthenticationChallenge)
    /// Continues with the default handling, as if there were no delegate.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Continues with the next authentication method that was offered.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

extension URLAuthenticationChallengeSender {
    /// Uses the proposed credential if it has a password, otherwise none.
    public func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        if let credential = challenge.proposedCredential, credential.hasPassword {
            use(credential, for: challenge)
        } else {
            continueWithoutCredential(for: challenge)
        }
    }

    /// Continues without a credential.
    public func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }
}

/// A server's or proxy's demand for a credential, or the question whether a server is trusted.
///
/// Immutable; may be used on any thread.
public final class URLAuthenticationChallenge: NSObject, Sendable {
    /// The space that a credential is required for.
    public let protectionSpace: URLProtectionSpace
    /// The credential that the default handling uses; nil when there is none, or when the peer has refused it already.
    public let proposedCredential: URLCredential?
    /// The number of the task's answers that were refused in this space.
    public let previousFailureCount: Int
    /// The response with the challenge, which refuses the last answer if there was one.
    public let failureResponse: URLResponse?
    /// The reason why the last answer failed, if no response has refused that answer.
    public let error: (any Error)?
    /// The object that receives the answer.
    public let sender: (any URLAuthenticationChallengeSender)?

    /// Creates a challenge with these values.
    ///
    /// - Parameters:
    ///   - space: The space that a credential is required for.
    ///   - credential: The credential that is used by default.
    ///   - previousFailureCount: The number of answers that were refused.
    ///   - response: The response with the challenge.
    ///   - error: The reason why the last answer failed.
    ///   - sender: The object that receives the answer.
    public convenience init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
        previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            space: space, credential: credential, failures: previousFailureCount, response: response,
            error: error, sender: sender)
    }

    /// Creates a copy of a challenge with another sender.
    public convenience init(
        authenticationChallenge challenge: URLAuthenticationChallenge,
        sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            space: challenge.protectionSpace, credential: challenge.proposedCredential,
            failures: challenge.previousFailureCount, response: challenge.failureResponse,
            error: challenge.error, sender: sender)
    }

    /// Creates a challenge. The sender is nil if a delegate's completion handler receives the answer. `failures` is the
    /// `previousFailureCount`.
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

    /// Contains the space and the number of refused answers.
    public override var description: String {
        "<URLAuthenticationChallenge of \(protectionSpace), \(previousFailureCount) failures>"
    }
}
