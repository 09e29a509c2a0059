// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// Creates and performs requests, and holds the objects that they share: a `URLSession`, queues, an interceptor, handlers,
/// monitors.
///
/// May be used from any thread. A request does not keep its session alive: when a session is deallocated, its requests fail with
/// `AFError.sessionDeinitialized`. `@unchecked Sendable`, because the compiler cannot check a class that can be subclassed: all
/// mutable state is in `mutableState`.
open class Session: @unchecked Sendable {
    /// A session with default settings, which is also available as `AF`.
    public static let `default` = Session()

    /// The time at which the `URLRequest` and the task of a request are created.
    public enum RequestSetup: Sendable {
        /// When the request is resumed.
        case lazy
        /// When the request is created.
        case eager
    }

    /// Modifies a `URLRequest` before parameters are encoded into it. Called on the request queue.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    let mutableState = Protected(MutableState())
    /// Whether the session created the request queue, which then targets its root queue.
    let ownsRequestQueue: Bool
    /// Whether the session's settings contain no code of the program: no interceptor, handler, trust manager or `URLProtocol`, no
    /// monitor other than `AlamofireNotifications`, no subclass and no request queue.
    ///
    /// If the request contains no code of the program either, its steps may run on any thread (S-29). No object of the program is
    /// then released on an event loop.
    let runsOnlyLibraryCode: Bool

    /// The `URLSession` that performs the tasks.
    public let session: URLSession
    /// The delegate of the `URLSession`.
    public let delegate: SessionDelegate
    /// The serial queue on which requests call the program's code, unless the program names another queue for it.
    public let rootQueue: DispatchQueue
    /// Whether requests resume automatically when their first handler is added.
    public let startRequestsImmediately: Bool
    /// Whether requests are set up when they are created or when they are resumed.
    public let requestSetup: RequestSetup
    /// The queue on which requests are converted and adapted.
    public let requestQueue: DispatchQueue
    /// The queue on which responses are serialized.
    public let serializationQueue: DispatchQueue
    /// The interceptor that adapts and retries every request of the session.
    public let interceptor: (any RequestInterceptor)?
    /// The manager that evaluates the trust of servers; nil leaves that to the loading system.
    public let serverTrustManager: ServerTrustManager?
    /// The handler that decides about redirects; nil follows them.
    public let redirectHandler: (any RedirectHandler)?
    /// The handler that decides which responses are cached; nil caches the proposed ones.
    public let cachedResponseHandler: (any CachedResponseHandler)?
    /// The monitor that forwards events to all monitors of the session.
    public let eventMonitor: CompositeEventMonitor

    /// Creates a session around a `URLSession` that was created for it alone. The underlying queue of the `URLSession`'s delegate
    /// queue must be `rootQueue`.
    ///
    /// It is a programming error to pass a background session, or one whose delegate queue has another underlying queue.
    ///
    /// - Parameters:
    ///   - session: Performs the tasks; its delegate is `delegate`.
    ///   - delegate: The delegate of `session`.
    ///   - rootQueue: A serial queue on which all changes to requests are made.
    ///   - startRequestsImmediately: Whether requests resume automatically when their first handler is added.
    ///   - requestSetup: Whether requests are set up when they are created or when they are resumed.
    ///   - requestQueue: The queue on which requests are converted and adapted; nil creates one that targets `rootQueue`.
    ///   - serializationQueue: The queue on which responses are serialized; nil creates one that targets `rootQueue`.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Evaluates servers; nil leaves that to the loading system.
    ///   - redirectHandler: Decides about redirects; nil follows them.
    ///   - cachedResponseHandler: Decides which responses are cached; nil caches the proposed ones.
    ///   - eventMonitors: The monitors that receive all events of the session.
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
        eventMonitor = CompositeEventMonitor(queue: rootQueue, monitors: eventMonitors, session: session)
        let usesSubclass = type(of: session) != URLSession.self || delegate.isSubclass
        let hasHandler = interceptor != nil || redirectHandler != nil || cachedResponseHandler != nil
        let hasNoURLProtocol = session.configuration.protocolClasses?.isEmpty != false
        runsOnlyLibraryCode =
            ownsRequestQueue && !usesSubclass && !hasHandler && hasNoURLProtocol && serverTrustManager == nil
            && session.delegate === delegate && eventMonitor.onlyPostsNotifications
            && type(of: self) == Session.self
        delegate.connect(to: self, eventMonitor: eventMonitor, serverTrustManager: serverTrustManager)
    }

    /// Invalidates the `URLSession`, and lets its delegate finish the active requests when it has become invalid. Does not wait
    /// for that: `deinit` may run on any thread, including the root queue.
    deinit {
        let activeRequests = mutableState.read { $0.activeRequests }
        let finishRequests = { @Sendable in
            for request in activeRequests {
                request.performStepOnRoot { request.finish(error: .sessionDeinitialized) }
            }
        }
        let runsOnInvalidation = delegate.runOnInvalidation(finishRequests)
        if !runsOnInvalidation { rootQueue.async(execute: finishRequests) }
        session.invalidateAndCancel()
    }

    // MARK: data requests

    /// Creates a request with a dictionary of parameters.
    ///
    /// - Parameters:
    ///   - convertible: The URL; converted when the request is performed.
    ///   - method: The method.
    ///   - parameters: The parameters that are encoded into the request.
    ///   - encoding: Encodes the parameters.
    ///   - headers: Header fields.
    ///   - interceptor: Adapts and retries the request, after the session's.
    ///   - shouldAutomaticallyResume: Whether the request resumes automatically when its first handler is added; nil uses the
    ///     session's setting.
    ///   - requestModifier: Modifies the `URLRequest` before the parameters are encoded.
    open func request(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            RequestConvertible(
                url: convertible, method: method, parameters: parameters, encoding: encoding,
                headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request with an `Encodable` value as parameters.
    ///
    /// - Parameters:
    ///   - convertible: The URL; converted when the request is performed.
    ///   - method: The method.
    ///   - parameters: The parameters that are encoded into the request.
    ///   - encoder: Encodes the parameters.
    ///   - headers: Header fields.
    ///   - interceptor: Adapts and retries the request, after the session's.
    ///   - shouldAutomaticallyResume: Whether the request resumes automatically when its first handler is added; nil uses the
    ///     session's setting.
    ///   - requestModifier: Modifies the `URLRequest` before the parameters are encoded.
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

    /// Creates a request from `convertible`, which is converted when the request is performed.
    ///
    /// - Parameters:
    ///   - convertible: The request.
    ///   - interceptor: Adapts and retries the request, after the session's.
    ///   - shouldAutomaticallyResume: Whether the request resumes automatically when its first handler is added; nil uses the
    ///     session's setting.
    open func request(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        let request = DataRequest(
            convertible: convertible, underlyingQueue: rootQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self)
        performIfEager(request)
        return request
    }

    // MARK: streams

    // `request(_:method:parameters:encoder:…)` documents the parameters that are not described below.

    /// Creates a request whose content is delivered piece by piece, with parameters.
    ///
    /// `automaticallyCancelOnStreamError` determines whether a piece that cannot be serialized cancels the request.
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

    /// Creates a request whose content is delivered piece by piece.
    ///
    /// `automaticallyCancelOnStreamError` determines whether a piece that cannot be serialized cancels the request.
    open func streamRequest(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            ParameterlessConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request from `convertible`, whose content is delivered piece by piece.
    ///
    /// `automaticallyCancelOnStreamError` determines whether a piece that cannot be serialized cancels the request.
    open func streamRequest(
        _ convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        let request = DataStreamRequest(
            convertible: convertible, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
            underlyingQueue: rootQueue, serializationQueue: serializationQueue, eventMonitor: eventMonitor,
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self)
        performIfEager(request)
        return request
    }

    // MARK: downloads

    // The closure `destination` returns the URL to which the downloaded file is moved. Without a closure the file stays in the
    // temporary directory.

    /// Creates a request whose content is written to a file, with a dictionary of parameters.
    open func download(
        _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            RequestConvertible(
                url: convertible, method: method, parameters: parameters, encoding: encoding,
                headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// Creates a request whose content is written to a file, with an `Encodable` value as parameters.
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

    /// Creates a request from `convertible`, whose content is written to a file.
    open func download(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        makeDownload(.request(convertible), interceptor, shouldAutomaticallyResume, destination)
    }

    /// Creates a download that resumes an earlier one from its resume data.
    open func download(
        resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        makeDownload(.resumeData(data), interceptor, shouldAutomaticallyResume, destination)
    }

    // MARK: uploads

    // `fileManager` removes the temporary files that the library writes for uploads.

    /// Creates a request that sends data.
    open func upload(
        _ data: Data, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            data,
            with: ParameterlessConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// Creates a request from `convertible` that sends data.
    open func upload(
        _ data: Data, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            Upload(request: convertible, uploadable: .data(data)), interceptor, shouldAutomaticallyResume,
            fileManager)
    }

    /// Creates a request that sends a file.
    open func upload(
        _ fileURL: URL, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            fileURL,
            with: ParameterlessConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// Creates a request from `convertible` that sends a file.
    open func upload(
        _ fileURL: URL, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            Upload(request: convertible, uploadable: .file(fileURL, shouldRemove: false)), interceptor,
            shouldAutomaticallyResume, fileManager)
    }

    /// Creates a request that sends a stream, which is read once.
    open func upload(
        _ stream: InputStream, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            stream,
            with: ParameterlessConvertible(
                url: convertible, method: method, headers: headers, requestModifier: requestModifier),
            interceptor: interceptor,
            fileManager: fileManager)
    }

    /// Creates a request from `convertible` that sends a stream, which is read once.
    open func upload(
        _ stream: InputStream, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            Upload(request: convertible, uploadable: .stream(stream)), interceptor, shouldAutomaticallyResume,
            fileManager)
    }

    // MARK: forms

    // Forms of fewer bytes than `encodingMemoryThreshold` are encoded in memory, longer ones into a temporary file. A form is
    // encoded once, when the request is performed.

    /// Creates a request that sends a form, which `multipartFormData` fills before this method returns.
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

    /// Creates a request from `request` that sends a form, which `multipartFormData` fills before this method returns.
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

    /// Creates a request that sends a form.
    open func upload(
        multipartFormData: MultipartFormData, to url: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: ParameterlessConvertible(
                url: url, method: method, headers: headers, requestModifier: requestModifier),
            usingThreshold: encodingMemoryThreshold, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Creates a request from `request` that sends a form.
    open func upload(
        multipartFormData: MultipartFormData, with request: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            MultipartUpload(
                encodingMemoryThreshold: encodingMemoryThreshold, request: request,
                form: multipartFormData, folder: session.configuration.lupine.temporaryDirectory),
            interceptor, shouldAutomaticallyResume, fileManager)
    }

    // MARK: web sockets

    // `configuration` holds the subprotocol, message limit and ping interval. The URL scheme is `ws`, `wss`, `http` or `https`.

    /// Creates a request that opens a WebSocket connection.
    open func webSocketRequest(
        to url: any URLConvertible, configuration: WebSocketRequest.Configuration = .default,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: ParameterlessConvertible(
                url: url, method: .get, headers: headers, requestModifier: requestModifier),
            configuration: configuration, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request, with parameters, that opens a WebSocket connection.
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

    /// Creates a request from `convertible` that opens a WebSocket connection.
    open func webSocketRequest(
        performing convertible: any URLRequestConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> WebSocketRequest {
        let request = WebSocketRequest(
            convertible: convertible, configuration: configuration, underlyingQueue: rootQueue,
            serializationQueue: serializationQueue, eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self,
            timer: .using(session.clock))
        performIfEager(request)
        return request
    }
}
