// SPDX-License-Identifier: MIT

internal import Foundation

/// The client of an instance of the program's `URLProtocol`: forwards the calls of the instance to its load, in order.
final class ProtocolClientProxy: NSObject, URLProtocolClient, Sendable {
    /// A weak reference to the load, because the instance may outlive the load. A struct with a constant, so that this class is
    /// `Sendable`.
    private struct WeakLoad: Sendable {
        weak let load: ProtocolLoad?
    }

    private let owner: WeakLoad

    init(_ load: ProtocolLoad) { owner = WeakLoad(load: load) }

    func urlProtocol(
        _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        owner.load?.enqueue(.redirect(request, redirectResponse))
    }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        owner.load?.enqueue(.response(cachedResponse.response, .notAllowed))
        owner.load?.enqueue(.content(Self.copy(of: cachedResponse.data)))
    }

    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        owner.load?.enqueue(.response(response, policy))
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        owner.load?.enqueue(.content(Self.copy(of: data)))
    }

    /// Copies the bytes. The program's `Data` may have a custom deallocator. Without a copy, that deallocator, which is code of
    /// the program, would run on an unknown thread: on the one that releases the last reference to the bytes.
    private static func copy(of data: Data) -> Data {
        var copy = Data(capacity: data.count)
        copy.append(data)
        return copy
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { owner.load?.enqueue(.end(nil)) }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        owner.load?.enqueue(.end(error))
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        owner.load?.enqueueChallenge(challenge)
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        owner.load?.removeOpenChallenge(challenge)
    }
}
