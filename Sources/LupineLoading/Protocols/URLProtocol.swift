// SPDX-License-Identifier: MIT

public import Foundation

/// A way to load that a program brings along: for a scheme of its own, or in the place of the network.
///
/// A subclass says which requests it takes and answers them through `client`. It is made anew for each hop of a task;
/// `startLoading` and `stopLoading` are called on one serial queue for each task, never two at once, and
/// `stopLoading` once for each `startLoading`, also after success. The class is asked where the task is resumed, and behind a
/// redirect or an answer to a challenge on a queue of the library's; never on an event loop, so it may block. Web socket and stream tasks never use one (U-17.1).
open class URLProtocol: NSObject {
    private var storedRequest: URLRequest
    private let storedResponse: CachedURLResponse?
    private let storedClient: (any URLProtocolClient)?
    private var storedTask: URLSessionTask?
    private var storedValue: (any Sendable)?

    /// Loads a request for a client.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - cachedResponse: What the cache has for it, if anything.
    ///   - client: Whom to tell.
    public required init(
        request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        storedRequest = request
        storedResponse = cachedResponse
        storedClient = client
        super.init()
    }

    /// Loads the current request of a task for a client: what a session calls. By default the canonical form of that request
    /// goes to the other initialiser.
    public required convenience init(
        task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
    ) {
        let request = task.currentRequest ?? task.originalRequest ?? Self.noRequest
        self.init(
            request: Self.canonicalRequest(for: request), cachedResponse: cachedResponse, client: client)
        storedTask = task
    }

    /// Of a task without one, which no session makes.
    private static var noRequest: URLRequest { URLRequest(url: URL(fileURLWithPath: "/")) }

    /// What the session has settled, whichever initialiser was overridden.
    func settle(_ request: URLRequest, _ task: URLSessionTask, _ value: (any Sendable)?) {
        storedRequest = request
        storedTask = task
        storedValue = value
    }

    /// The `lupine.protocolValue` of the session's configuration, from `startLoading` on (U-17.8).
    public final var sessionValue: (any Sendable)? { storedValue }

    /// What to load, in canonical form; an upload task's data or file is its body from `startLoading` on (U-17.9).
    open var request: URLRequest { storedRequest }

    /// What the cache has for the request, if it was asked.
    open var cachedResponse: CachedURLResponse? { storedResponse }

    /// Whom to tell. Its methods may be called on any thread.
    open var client: (any URLProtocolClient)? { storedClient }

    /// The task that the load belongs to.
    open var task: URLSessionTask? { storedTask }

    // MARK: what a subclass says

    /// Whether the class takes a request. By default it takes none.
    open class func canInit(with request: URLRequest) -> Bool { false }

    /// Whether the class takes a task, whose current request has the session's fields and cookies already. By default it
    /// depends on that request.
    open class func canInit(with task: URLSessionTask) -> Bool {
        task.currentRequest.map { canInit(with: $0) } ?? false
    }

    /// The form in which equal requests are the same. By default the request itself.
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Whether two requests may share an entry of a cache. By default those of one canonical form.
    open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
        canonicalRequest(for: a) == canonicalRequest(for: b)
    }

    /// Begins to load, and tells `client` what comes. By default the load fails: a subclass is to override this.
    open func startLoading() {
        let error = URLError.loading(
            .unsupportedURL, url: request.url, reason: "\(type(of: self)) does not load anything")
        client?.urlProtocol(self, didFailWithError: error)
    }

    /// The load is over, or not wanted any more: nothing that the client is told from here on counts.
    open func stopLoading() {}

    // MARK: classes

    /// Has the shared session, and sessions of configurations made from here on, ask a class. The latest is asked first.
    ///
    /// - Returns: Whether the class is a subclass of `URLProtocol`.
    open class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard protocolClass is URLProtocol.Type else { return false }
        ProtocolRegistry.add(protocolClass)
        return true
    }

    /// Takes a registration back.
    open class func unregisterClass(_ protocolClass: AnyClass) { ProtocolRegistry.remove(protocolClass) }

    // MARK: properties of requests

    /// What was attached to a request under that key.
    open class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.protocolProperty(forKey: key)
    }

    /// Attaches a value to a request; it goes with every copy.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        request.setProtocolProperty(value, forKey: key)
    }

    /// Takes a value off a request.
    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        request.setProtocolProperty(nil, forKey: key)
    }
}
