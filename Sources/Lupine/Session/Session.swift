// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// Makes requests and performs them, with what they share: a `URLSession`, queues, an interceptor, handlers, monitors.
///
/// Any thread may call. A request does not keep its session alive: a session that nobody holds ends its requests with
/// `AFError.sessionDeinitialized`. It can be subclassed, so the compiler cannot see that it is `Sendable`: what
/// changes stands in `mutableState`.
open class Session: @unchecked Sendable {
    /// A session with all defaults; also `AF`.
    public static let `default` = Session()

    /// When the `URLRequest` and the task of a request are made.
    public enum RequestSetup: Sendable {
        /// When it is resumed.
        case lazy
        /// When the request is made.
        case eager
    }

    /// Changes a `URLRequest` that was made of its parts, before parameters are encoded into it. Called on the request queue.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    /// All that changes.
    struct MutableState {
        /// Requests that were performed and have not called their handlers.
        var activeRequests: Set<Request> = []
        var requestTaskMap = RequestTaskMap()
        /// What is done about a task's completion when its metrics have come.
        var waitingCompletions: [ObjectIdentifier: Request.Job] = [:]
    }

    let mutableState = Protected(MutableState())
    let rootMark: RootQueueMark
    /// Whether nothing that the session was given calls code of the program's in the steps of a request.
    let isPlain: Bool
    private let lastURL = LastURL()
    /// Whether the request queue is one that the session made, on its root queue.
    let ownsRequestQueue: Bool

    /// What performs the tasks.
    public let session: URLSession
    /// What the `URLSession` tells.
    public let delegate: SessionDelegate
    /// Where everything happens that changes a request. Serial.
    public let rootQueue: DispatchQueue
    /// Whether requests resume by themselves when they are given their first handler.
    public let startRequestsImmediately: Bool
    /// When requests are set up.
    public let requestSetup: RequestSetup
    /// Where requests are converted and adapted.
    public let requestQueue: DispatchQueue
    /// Where responses are serialized.
    public let serializationQueue: DispatchQueue
    /// Who adapts and retries every request of the session.
    public let interceptor: (any RequestInterceptor)?
    /// Who judges servers.
    public let serverTrustManager: ServerTrustManager?
    /// Who decides about redirects.
    public let redirectHandler: (any RedirectHandler)?
    /// Who decides what is cached.
    public let cachedResponseHandler: (any CachedResponseHandler)?
    /// Everyone who hears of what happens.
    public let eventMonitor: CompositeEventMonitor

    /// The monitors that a session has unless it is given others: those that post notifications.
    @available(*, deprecated, message: "Give the session the monitors that it is to have.")
    public var defaultEventMonitors: [any EventMonitor] { [AlamofireNotifications()] }

    /// A session on a `URLSession` that was made for it, whose delegate queue has `rootQueue` under it.
    ///
    /// It is an error of the program to give it a background session, or one whose delegate queue has another queue under it.
    ///
    /// - Parameters:
    ///   - session: Performs the tasks; its delegate is `delegate`.
    ///   - delegate: What the `URLSession` tells.
    ///   - rootQueue: A serial queue, for everything that changes a request.
    ///   - startRequestsImmediately: Whether requests resume by themselves when they are given their first handler.
    ///   - requestSetup: When requests are set up.
    ///   - requestQueue: Where requests are converted and adapted; nil makes a queue that targets `rootQueue`.
    ///   - serializationQueue: Where responses are serialized; nil makes a queue that targets `rootQueue`.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Judges servers; nil leaves that to the loading system.
    ///   - redirectHandler: Decides about redirects; nil follows them.
    ///   - cachedResponseHandler: Decides what is cached; nil caches what is offered.
    ///   - eventMonitors: Hear of everything.
    public init(
        session: URLSession, delegate: SessionDelegate, rootQueue: DispatchQueue,
        startRequestsImmediately: Bool = true, requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil, serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil, serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [AlamofireNotifications()]
    ) {
        precondition(
            session.configuration.identifier == nil, "background configurations cannot be used with a Session"
        )
        precondition(
            unsafe session.delegateQueue.underlyingQueue?.isSame(as: rootQueue) == true,
            "the delegate queue of the URLSession has to have the root queue under it")

        self.session = session
        self.delegate = delegate
        self.rootQueue = rootQueue
        self.startRequestsImmediately = startRequestsImmediately
        self.requestSetup = requestSetup
        ownsRequestQueue = requestQueue == nil
        self.requestQueue =
            requestQueue ?? DispatchQueue(label: "\(rootQueue.label).requestQueue", target: rootQueue)
        self.serializationQueue =
            serializationQueue
            ?? DispatchQueue(label: "\(rootQueue.label).serializationQueue", target: rootQueue)
        self.interceptor = interceptor
        self.serverTrustManager = serverTrustManager
        self.redirectHandler = redirectHandler
        self.cachedResponseHandler = cachedResponseHandler
        rootMark = RootQueueMark.mark(of: rootQueue)
        eventMonitor = CompositeEventMonitor(queue: rootQueue, monitors: eventMonitors)
        isPlain =
            type(of: self) == Session.self && type(of: delegate) == SessionDelegate.self
            && interceptor == nil && serverTrustManager == nil && redirectHandler == nil
            && cachedResponseHandler == nil && eventMonitor.onlyNotifies
            && type(of: session) == URLSession.self && session.delegate === delegate
            && session.callsNoProtocols
        delegate.serve(self, telling: eventMonitor, judging: serverTrustManager)
    }

    /// A session with a `URLSession` of its own.
    ///
    /// It is an error of the program to give it a background configuration.
    ///
    /// - Parameters:
    ///   - configuration: Copied for the `URLSession`.
    ///   - delegate: What the `URLSession` tells.
    ///   - rootQueue: Everything that changes a request happens on a serial queue that targets this one, or on the main
    ///     queue, if it is that.
    ///   - startRequestsImmediately: Whether requests resume by themselves when they are given their first handler.
    ///   - requestSetup: When requests are set up.
    ///   - requestQueue: Where requests are converted and adapted; nil makes a queue that targets the root queue.
    ///   - serializationQueue: Where responses are serialized; nil makes a queue that targets the root queue.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Judges servers; nil leaves that to the loading system.
    ///   - redirectHandler: Decides about redirects; nil follows them.
    ///   - cachedResponseHandler: Decides what is cached; nil caches what is offered.
    ///   - eventMonitors: Hear of everything.
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
        // A queue of our own, so that a concurrent one is safe too.
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

    /// Ends what is left, without waiting for it: this may run on any thread, the root queue included.
    deinit {
        let active = mutableState.read { $0.activeRequests }
        let ending = { @Sendable in
            for request in active { request.step { request.finish(error: .sessionDeinitialized) } }
        }
        if !delegate.sessionEnds(ending) { rootQueue.async(execute: ending) }
        session.invalidateAndCancel()
        // What is the program's in them does not end on an event loop.
        rootQueue.async { [session, delegate] in withExtendedLifetime((session, delegate)) {} }
    }

    // MARK: data requests

    /// A request whose parameters stand in a dictionary.
    ///
    /// - Parameters:
    ///   - convertible: Where to load from; converted when the request is performed.
    ///   - method: The method.
    ///   - parameters: What is encoded into the request.
    ///   - encoding: How.
    ///   - headers: Header fields.
    ///   - interceptor: Adapts and retries the request, behind the session's.
    ///   - shouldAutomaticallyResume: Whether the request resumes by itself when it is given its first handler; nil leaves it
    ///     to the session.
    ///   - requestModifier: Changes the `URLRequest` before the parameters are encoded.
    open func request(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            RequestConvertible(
                url: convertible, method: method, parameters: parameters, encoding: encoding,
                headers: headers, requestModifier: requestModifier, lastURL: lastURL),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request whose parameters are an `Encodable` value.
    ///
    /// - Parameters:
    ///   - convertible: Where to load from; converted when the request is performed.
    ///   - method: The method.
    ///   - parameters: What is encoded into the request.
    ///   - encoder: How.
    ///   - headers: Header fields.
    ///   - interceptor: Adapts and retries the request, behind the session's.
    ///   - shouldAutomaticallyResume: Whether the request resumes by itself when it is given its first handler; nil leaves it
    ///     to the session.
    ///   - requestModifier: Changes the `URLRequest` before the parameters are encoded.
    open func request<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            RequestEncodableConvertible(
                url: convertible, method: method, parameters: parameters, encoder: encoder,
                headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request of what `convertible` is converted to when it is performed.
    ///
    /// - Parameters:
    ///   - convertible: The request.
    ///   - interceptor: Adapts and retries the request, behind the session's.
    ///   - shouldAutomaticallyResume: Whether the request resumes by itself when it is given its first handler; nil leaves it
    ///     to the session.
    open func request(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        let request = DataRequest(
            convertible: convertible, underlyingQueue: rootQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, isPlain: Self.isPlain(convertible),
            delegate: self)
        begin(request)
        return request
    }

    // MARK: streams

    // Parameters that are not explained are those of `request(_:method:parameters:encoder:…)`.

    /// A request whose content is handed over piece by piece, with parameters.
    ///
    /// `automaticallyCancelOnStreamError` says whether a piece that cannot be serialized cancels the request.
    open func streamRequest<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            RequestEncodableConvertible(
                url: convertible, method: method, parameters: parameters, encoder: encoder,
                headers: headers, requestModifier: requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request whose content is handed over piece by piece.
    ///
    /// `automaticallyCancelOnStreamError` says whether a piece that cannot be serialized cancels the request.
    open func streamRequest(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            BareConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request, of what `convertible` is converted to, whose content is handed over piece by piece.
    ///
    /// `automaticallyCancelOnStreamError` says whether a piece that cannot be serialized cancels the request.
    open func streamRequest(
        _ convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        let request = DataStreamRequest(
            convertible: convertible, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
            underlyingQueue: rootQueue, serializationQueue: serializationQueue, eventMonitor: eventMonitor,
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self)
        begin(request)
        return request
    }

    // MARK: downloads

    // `destination` says where the file is moved to; nil leaves it among the temporary files.

    /// A request whose content goes into a file, with parameters in a dictionary.
    open func download(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            RequestConvertible(
                url: convertible, method: method, parameters: parameters, encoding: encoding,
                headers: headers, requestModifier: requestModifier, lastURL: lastURL),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// A request whose content goes into a file, with an `Encodable` value for parameters.
    open func download<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            RequestEncodableConvertible(
                url: convertible, method: method, parameters: parameters, encoder: encoder,
                headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// A request, of what `convertible` is converted to, whose content goes into a file.
    open func download(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(.request(convertible), interceptor, shouldAutomaticallyResume, destination)
    }

    /// A download that goes on from what an earlier one left.
    open func download(
        resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(.resumeData(data), interceptor, shouldAutomaticallyResume, destination)
    }

    private func download(
        _ downloadable: DownloadRequest.Downloadable, _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?, _ destination: DownloadRequest.Destination?
    ) -> DownloadRequest {
        let request = DownloadRequest(
            downloadable: downloadable, underlyingQueue: rootQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self, destination: destination)
        begin(request)
        return request
    }

    // MARK: uploads

    // `fileManager` removes the files that are written for uploads.

    /// A request that sends data.
    open func upload(
        _ data: Data, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            data,
            with: BareConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// A request, of what `convertible` is converted to, that sends data.
    open func upload(
        _ data: Data, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            Upload(request: convertible, uploadable: .data(data)), interceptor, shouldAutomaticallyResume,
            fileManager)
    }

    /// A request that sends a file.
    open func upload(
        _ fileURL: URL, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            fileURL,
            with: BareConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// A request, of what `convertible` is converted to, that sends a file.
    open func upload(
        _ fileURL: URL, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            Upload(request: convertible, uploadable: .file(fileURL, shouldRemove: false)), interceptor,
            shouldAutomaticallyResume, fileManager)
    }

    /// A request that sends a stream, which is read once.
    open func upload(
        _ stream: InputStream, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            stream,
            with: BareConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            interceptor: interceptor,
            fileManager: fileManager)
    }

    /// A request, of what `convertible` is converted to, that sends a stream, which is read once.
    open func upload(
        _ stream: InputStream, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            Upload(request: convertible, uploadable: .stream(stream)), interceptor, shouldAutomaticallyResume,
            fileManager)
    }

    // MARK: forms

    // Forms of fewer bytes than `encodingMemoryThreshold` are encoded in memory, others into a temporary file. They are encoded
    // when the request is performed, once.

    /// A request that sends a form, which `multipartFormData` fills before this returns.
    open func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void, to url: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let form = MultipartFormData(fileManager: fileManager)
        multipartFormData(form)
        return upload(
            multipartFormData: form, to: url, usingThreshold: encodingMemoryThreshold, method: method,
            headers: headers, interceptor: interceptor, fileManager: fileManager,
            requestModifier: requestModifier)
    }

    /// A request, of what `request` is converted to, that sends a form, which `multipartFormData` fills before this returns.
    open func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void, with request: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default
    ) -> UploadRequest {
        let form = MultipartFormData(fileManager: fileManager)
        multipartFormData(form)
        return upload(
            multipartFormData: form, with: request, usingThreshold: encodingMemoryThreshold,
            interceptor: interceptor, fileManager: fileManager)
    }

    /// A request that sends a form.
    open func upload(
        multipartFormData: MultipartFormData, to url: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: BareConvertible(
                url: url, method: method, headers: headers, requestModifier: requestModifier),
            usingThreshold: encodingMemoryThreshold, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// A request, of what `request` is converted to, that sends a form.
    open func upload(
        multipartFormData: MultipartFormData, with request: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            MultipartUpload(
                encodingMemoryThreshold: encodingMemoryThreshold, request: request,
                form: multipartFormData, folder: session.configuration.lupine.temporaryDirectory),
            interceptor, shouldAutomaticallyResume, fileManager)
    }

    private func upload(
        _ upload: any UploadConvertible, _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?, _ fileManager: FileManager
    ) -> UploadRequest {
        let request = UploadRequest(
            convertible: upload, underlyingQueue: rootQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor, fileManager: fileManager,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self)
        begin(request)
        return request
    }

    // MARK: web sockets

    // `configuration` says what is agreed on with the server. The addresses' schemes may be `ws`, `wss`, `http` or `https`.

    /// A request that becomes a connection on which messages go both ways.
    open func webSocketRequest(
        to url: any URLConvertible, configuration: WebSocketRequest.Configuration = .default,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: BareConvertible(
                url: url, method: .get, headers: headers, requestModifier: requestModifier),
            configuration: configuration, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request, with parameters, that becomes a connection on which messages go both ways.
    open func webSocketRequest<Parameters: Encodable & Sendable>(
        to url: any URLConvertible, configuration: WebSocketRequest.Configuration = .default,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: RequestEncodableConvertible(
                url: url, method: .get, parameters: parameters, encoder: encoder, headers: headers,
                requestModifier: requestModifier),
            configuration: configuration, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request, of what `convertible` is converted to, that becomes a connection on which messages go both ways.
    open func webSocketRequest(
        performing convertible: any URLRequestConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> WebSocketRequest {
        let request = WebSocketRequest(
            convertible: convertible, configuration: configuration, underlyingQueue: rootQueue,
            serializationQueue: serializationQueue, eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self,
            timer: .by(session.clock))
        begin(request)
        return request
    }

    // MARK: all requests

    /// Calls `action` on the root queue with the requests that were performed and have not called their handlers.
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.async { action(self.mutableState.read { $0.activeRequests }) }
    }

    /// Cancels the requests that were performed and have not called their handlers. Their handlers may not have been called
    /// when `completion` is, on `queue`.
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        withAllRequests { requests in
            for request in requests { request.cancel() }
            if let completion { queue.async(execute: completion) }
        }
    }
}
