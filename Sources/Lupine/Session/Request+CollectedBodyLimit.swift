// SPDX-License-Identifier: MIT

internal import LupineLoading

extension Request {
    /// The session's limit for content that is collected in memory; the standard limit if the session no longer exists.
    var collectedBodyLimit: CollectedBodyLimit {
        (delegate as? Session)?.session.collectedBodyLimit ?? .standard
    }

    /// Fails and cancels the request, because an asynchronous sequence that the program does not iterate has buffered more than
    /// the limit.
    func fail(exceeding limit: CollectedBodyLimit) {
        if error == nil {
            error = .sessionTaskFailed(error: limit.error(of: lastRequest?.url))
        }
        cancel()
    }
}
