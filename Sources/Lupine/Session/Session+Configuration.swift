// SPDX-License-Identifier: MIT

public import Dispatch
internal import Foundation
public import LupineLoading

// The creation of a session from the configuration of its `URLSession`.

extension Session {
    /// Creates a session and the `URLSession` that performs its tasks.
    ///
    /// It is a programming error to pass a background configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the `URLSession`, which copies it.
    ///   - delegate: The delegate of the `URLSession`.
    ///   - rootQueue: The target of the serial queue on which all changes to requests are made; the main queue is used directly.
    ///   - startRequestsImmediately: Whether requests resume automatically when their first handler is added.
    ///   - requestSetup: Whether requests are set up when they are created or when they are resumed.
    ///   - requestQueue: The queue on which requests are converted and adapted; nil creates one that targets the root queue.
    ///   - serializationQueue: The queue on which responses are serialized; nil creates one that targets the root queue.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Evaluates servers; nil leaves that to the loading system.
    ///   - redirectHandler: Decides about redirects; nil follows them.
    ///   - cachedResponseHandler: Decides which responses are cached; nil caches the proposed ones.
    ///   - eventMonitors: The monitors that receive all events of the session.
    public convenience init(
        configuration: URLSessionConfiguration = URLSessionConfiguration.af.default,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "org.alamofire.session.rootQueue"),
        startRequestsImmediately: Bool = true, requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil, serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil, serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    ) {
        precondition(
            configuration.identifier == nil, "background configurations cannot be used with a Session")
        // The session uses a new serial queue that targets `rootQueue`, because the program's queue may be concurrent. The main
        // queue is serial.
        let serialRootQueue =
            rootQueue.isSame(as: .main)
            ? rootQueue : DispatchQueue(label: rootQueue.label, target: rootQueue)
        let delegateQueue = OperationQueue(
            maxConcurrentOperationCount: 1, underlyingQueue: serialRootQueue,
            name: "\(serialRootQueue.label).sessionDelegate")
        self.init(
            session: URLSession(
                configuration: configuration, delegate: delegate, delegateQueue: delegateQueue),
            delegate: delegate, rootQueue: serialRootQueue,
            startRequestsImmediately: startRequestsImmediately, requestSetup: requestSetup,
            requestQueue: requestQueue, serializationQueue: serializationQueue, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors)
    }

    /// The default monitors of a session: one that posts notifications.
    @available(*, deprecated, message: "Give the session the monitors that it is to have.")
    public var defaultEventMonitors: [any EventMonitor] { [AlamofireNotifications()] }
}
