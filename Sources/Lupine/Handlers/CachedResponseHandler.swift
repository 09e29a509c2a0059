// SPDX-License-Identifier: MIT

public import LupineLoading

/// Decides which responses are cached, for a session or for one request (`Request.cacheResponse(using:)`). The handler of
/// the request takes precedence over that of the session.
public protocol CachedResponseHandler: Sendable {
    /// Calls the completion with the response to store, which may differ from the proposed response; nil stores nothing. Called
    /// on the session's root queue; the completion may be called from any thread.
    func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping (CachedURLResponse?) -> Void)
}
