// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// A `SessionDelegate` that also refuses Basic challenges with `--digest`, so that the password is never sent in clear. Called on
/// the session's root queue.
final class ChallengeDelegate: SessionDelegate, @unchecked Sendable {
    private let digestOnly: Bool

    init(digestOnly: Bool) {
        self.digestOnly = digestOnly
        super.init(fileManager: .default)
    }

    override func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let method = challenge.protectionSpace.authenticationMethod
        if digestOnly, method == NSURLAuthenticationMethodHTTPBasic {
            return completionHandler(.rejectProtectionSpace, nil)
        }
        super.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }
}
