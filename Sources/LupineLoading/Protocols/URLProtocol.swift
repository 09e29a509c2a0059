// SPDX-License-Identifier: MIT

public import Foundation

/// Base class of the program's own loaders: for a custom URL scheme, or instead of the network.
///
/// A subclass decides which requests it loads, and passes the response to `client`. The session creates a new instance for each
/// request of a task, such as one after a redirect. It calls `startLoading` and `stopLoading` on a serial queue of the task, and
/// calls `stopLoading` once for each `startLoading`, even after a successful load.
///
/// The session calls the class methods on the thread that resumes the task; after a redirect or an answered challenge, on a queue
/// of the library. It never calls them on an event loop, so they may block. WebSocket and stream tasks never use a `URLProtocol`
/// (U-17.1).
open class URLProtocol: NSObject {
    private var storedRequest: URLRequest
    private let storedResponse: CachedURLResponse?
    private let storedClient: (any URLProtocolClient)?
    private var storedTask: URLSessionTask?
    private var storedSessionValue: (any Sendable)?

    /// Creates an instance that loads a request for a client.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - cachedResponse: The cached response for the request, if any.
    ///   - client: The client that receives the response.
    public required init(
        request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        storedRequest = request
        storedResponse = cachedResponse
        storedClient = client
        super.init()
    }

    /// Creates an instance that loads the current request of a task. Sessions call this initializer. The default implementation
    /// passes the canonical form of that request to the other initializer.
    public required convenience init(
        task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        let request = task.currentRequest ?? task.originalRequest ?? Self.noRequest
        self.init(
            request: Self.canonicalRequest(for: request), cachedResponse: cachedResponse, client: client)
        storedTask = task
    }

    /// A placeholder for a task without a request, which no session creates.
    private static var noRequest: URLRequest { URLRequest(url: URL(fileURLWithPath: "/")) }

    /// Sets the properties whose values the session determines. A subclass may override the initializers, and may not pass the
    /// values to the initializers of this class.
    func setSessionValues(_ request: URLRequest, _ task: URLSessionTask, _ sessionValue: (any Sendable)?) {
        storedRequest = request
        storedTask = task
        storedSessionValue = sessionValue
    }

    /// The `lupine.protocolValue` of the session's configuration, from `startLoading` on (U-17.8).
    public final var sessionValue: (any Sendable)? { storedSessionValue }

    /// The request to load, in canonical form. From `startLoading` on, its body is the data or the file of an upload task
    /// (U-17.9).
    open var request: URLRequest { storedRequest }

    /// The cached response that was passed to the initializer.
    open var cachedResponse: CachedURLResponse? { storedResponse }

    /// The client that receives the response. Its methods may be called on any thread.
    open var client: (any URLProtocolClient)? { storedClient }

    /// The task that the load belongs to.
    open var task: URLSessionTask? { storedTask }

    // MARK: methods to override

    /// Whether the class can load a request. The default implementation returns false.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Whether the class can load a task. The task's current request already has the session's fields and cookies. The default
    /// implementation calls `canInit(with:)` with that request.
    open class func canInit(with task: URLSessionTask) -> Bool {
        task.currentRequest.map { canInit(with: $0) } ?? false
    }

    /// Returns the canonical form of a request, which is the same for equivalent requests. The default implementation returns the
    /// request itself.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether two requests may share a cached response. The default implementation compares their canonical forms.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
        canonicalRequest(for: a) == canonicalRequest(for: b)
    }

    /// Starts loading. Later, on any thread, the instance passes the response and the content to `client`. Subclasses must
    /// override this method; the default implementation fails the load.
    open func startLoading() {
        let error = URLError.loading(
            .unsupportedURL, url: request.url, reason: "\(type(of: self)) does not load anything")
        client?.urlProtocol(self, didFailWithError: error)
    }

    /// Stops loading, because the load has ended or was cancelled. Later calls of the client are ignored.
    open func stopLoading() {}

    // MARK: registering classes

    /// Registers a class for the shared session, and for configurations that are created later. Sessions call `canInit(with:)` of
    /// the latest class first.
    ///
    /// - Returns: Whether the class is a subclass of `URLProtocol`.
    open class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard protocolClass is URLProtocol.Type else { return false }
        ProtocolRegistry.add(protocolClass)
        return true
    }

    /// Unregisters a class.
    open class func unregisterClass(_ protocolClass: AnyClass) { ProtocolRegistry.remove(protocolClass) }

    // MARK: properties of requests

    /// Returns the property of a request for a key.
    open class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.protocolProperty(forKey: key)
    }

    /// Sets a property of a request; copies of the request have it, too.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        request.setProtocolProperty(value, forKey: key)
    }

    /// Removes a property of a request.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        request.setProtocolProperty(nil, forKey: key)
    }
}
