// SPDX-License-Identifier: MIT

internal import Foundation

/// The client of a program's `URLProtocol`: forwards its calls to the load, in order.
final class ProtocolClientProxy: NSObject, URLProtocolClient, Sendable {
    /// A weak reference in a constant, because the instance may outlive its load.
    private struct Load: Sendable {
        weak let load: ProtocolLoad?
    }

    private let owner: Load

    init(_ load: ProtocolLoad) { owner = Load(load: load) }

    func urlProtocol(
        _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        owner.load?.say(.redirect(request, redirectResponse))
    }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        owner.load?.say(.response(cachedResponse.response, .notAllowed))
        owner.load?.say(.content(Self.own(cachedResponse.data)))
    }

    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        owner.load?.say(.response(response, policy))
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        owner.load?.say(.content(Self.own(data)))
    }

    /// Copies the bytes. The program's `Data` may have a custom deallocator, which would run on whichever thread releases or
    /// moves the last slice.
    private static func own(_ data: Data) -> Data {
        var copy = Data(capacity: data.count)
        copy.append(data)
        return copy
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { owner.load?.say(.end(nil)) }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        owner.load?.say(.end(error))
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        owner.load?.ask(challenge)
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        owner.load?.withdraw(challenge)
    }
}
