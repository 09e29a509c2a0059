// SPDX-License-Identifier: MIT

public import Foundation

/// The client of a `URLProtocol`, which the session provides. Its methods may be called on any thread, one after the other.
///
/// The first call of `urlProtocolDidFinishLoading` or `didFailWithError` ends the load; later calls are ignored (U-17.5). The
/// session passes a response to the task even if its status is that of a redirect or a challenge. It follows a redirect and
/// answers a challenge only if the method for that purpose reports it.
public protocol URLProtocolClient: NSObjectProtocol {
    /// Reports a redirect to another request. The session asks its delegate, and stops this instance if the redirect is followed.
    func urlProtocol(
        _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    /// Reports that the cached response is still valid: the task gets it as its response.
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
    /// Reports the response, and where it may be cached.
    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy)
    /// Reports a piece of content.
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    /// Reports that the content is complete.
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    /// Reports that the load has failed.
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
    /// Reports a challenge. The answer goes to the challenge's sender.
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
    /// Reports that the answer to a challenge is no longer needed.
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
