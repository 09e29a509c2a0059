// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// What the command answers the loading system beyond what `SessionDelegate` does: with `--digest` a password is never sent
/// as it is. On the session's root queue.
final class AnsweringDelegate: SessionDelegate, @unchecked Sendable {
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
