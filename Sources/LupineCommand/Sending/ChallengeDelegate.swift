// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// A `SessionDelegate` that rejects Basic challenges if the user asks for Digest (`--digest`), so that the password is never sent
/// in clear. The library calls it on the session's root queue.
final class ChallengeDelegate: SessionDelegate, @unchecked Sendable {
    private let allowsOnlyDigest: Bool

    init(allowsOnlyDigest: Bool) {
        self.allowsOnlyDigest = allowsOnlyDigest
        super.init(fileManager: .default)
    }

    override func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let method = challenge.protectionSpace.authenticationMethod
        if allowsOnlyDigest, method == NSURLAuthenticationMethodHTTPBasic {
            return completionHandler(.rejectProtectionSpace, nil)
        }
        super.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }
}
