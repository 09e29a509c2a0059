// SPDX-License-Identifier: MIT

internal import LupineLoading

extension Request {
    /// The limit of the request's session; the standard limit if the session no longer exists.
    var collectedBodyLimit: CollectedBodyLimit {
        (delegate as? Session)?.session.collectedBodyLimit ?? .standard
    }

    /// Fails the request because a sequence that is not iterated has buffered more than the limit.
    func fail(_ limit: CollectedBodyLimit) {
        if error == nil {
            error = .sessionTaskFailed(error: limit.error(of: lastRequest?.url))
        }
        cancel()
    }
}
