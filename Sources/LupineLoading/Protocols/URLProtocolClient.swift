// SPDX-License-Identifier: MIT

public import Foundation

/// Whom a `URLProtocol` tells what comes: the session. Any thread may call; the calls count in their order.
///
/// The load is over with the first of `urlProtocolDidFinishLoading` and `didFailWithError`; what comes later is ignored
/// (U-17.5). A response is handed on as it is: the session follows no redirect and answers no challenge that is not
/// told as one.
public protocol URLProtocolClient: NSObjectProtocol {
    /// The load goes on with another request. The session asks its delegate, and stops this protocol if it is followed.
    func urlProtocol(
        _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    /// What the cache has is still good, and is the answer.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
    /// The response, and where it may be cached.
    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy)
    /// More of the content.
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    /// All of the content has been told.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    /// The load has failed.
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
    /// A question for a credential. The answer goes to the challenge's sender.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
    /// The answer is not wanted any more.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
