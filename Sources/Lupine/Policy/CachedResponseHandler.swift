// SPDX-License-Identifier: MIT

public import LupineLoading

/// Decides what is cached: a session's, or one request's (`Request.cacheResponse(using:)`), which comes first.
public protocol CachedResponseHandler: Sendable {
    /// Gives what is to be stored, which may be another response than the proposed one; nil stores nothing. Called on the
    /// session's root queue; the completion may be called from any thread.
    func dataTask(
        _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
        completion: @escaping (CachedURLResponse?) -> Void)
}
