// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

// Handlers, credentials, interceptors and monitors of a request. All methods may be called on any thread. The methods that set a
// progress handler, or a handler of created requests or tasks, replace the previous handler.

extension Request {
    // MARK: progress

    /// The progress of sending the body: one object for the life of the request, updated on the root queue.
    public var uploadProgress: Progress { progress(of: \.uploadProgress) }

    /// The progress of receiving the content: one object for the life of the request, updated on the root queue.
    public var downloadProgress: Progress { progress(of: \.downloadProgress) }

    /// Returns the `Progress` of the upload or the download. Creates it on first use, outside of the lock: the new object becomes
    /// a child of the thread's current `Progress`, which belongs to the program.
    ///
    /// The loop repeats if another thread has stored an object or changed the counts meanwhile.
    private func progress(of direction: WritableKeyPath<MutableState, TransferProgress>) -> Progress {
        while true {
            let current = mutableState.read { $0[keyPath: direction] }
            if let object = current.object { return object }
            let object = current.makeObject()
            let isStored = mutableState.write { $0[keyPath: direction].store(object) }
            if isStored { return object }
        }
    }

    /// Sets the progress handler of the upload or the download, and creates the `Progress` if there is none.
    private func setProgressHandler(
        of direction: WritableKeyPath<MutableState, TransferProgress>, on queue: DispatchQueue,
        _ closure: @escaping ProgressHandler
    ) -> Self {
        // Creates the object, because a `TransferProgress` with a handler must have one.
        _ = progress(of: direction)
        // `swap` moves the replaced handler out of the lock, where it is released: it may hold the last reference to an object
        // of the program.
        var handler: TransferProgress.Handler? = .init(queue: queue, closure: closure)
        mutableState.write { swap(&$0[keyPath: direction].handler, &handler) }
        return self
    }

    /// The handler of upload progress, and its queue.
    public var uploadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        mutableState.read { $0.uploadProgress.handler }.map { ($0.closure, $0.queue) }
    }

    /// The handler of download progress, and its queue.
    public var downloadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        mutableState.read { $0.downloadProgress.handler }.map { ($0.closure, $0.queue) }
    }

    /// Calls `closure` on `queue` whenever more of the body has been sent.
    @discardableResult
    public func uploadProgress(
        queue: DispatchQueue = .main, closure: @escaping ProgressHandler
    ) -> Self {
        setProgressHandler(of: \.uploadProgress, on: queue, closure)
    }

    /// Calls `closure` on `queue` whenever more of the content has been received.
    @discardableResult
    public func downloadProgress(
        queue: DispatchQueue = .main, closure: @escaping ProgressHandler
    ) -> Self {
        setProgressHandler(of: \.downloadProgress, on: queue, closure)
    }

    // MARK: created requests and tasks

    /// Calls `handler` on `queue` with the final `URLRequest` of each attempt. If there is one already, first calls it with the
    /// latest.
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        let newHandler = QueuedHandler(queue: queue, closure: handler)
        // The replaced handler is returned so that it is released outside of the lock, here and in the next method.
        let (firstTaskAction, _) = mutableState.write { state in
            let oldHandler = state.urlRequestHandler
            state.urlRequestHandler = newHandler
            return (
                state.requests.last.flatMap { state.taskActions.enqueue(newHandler.makeCall(with: $0)) },
                oldHandler
            )
        }
        performTaskActions(from: firstTaskAction)
        return self
    }

    /// Calls `handler` on `queue` with the task of each attempt. If there is one already, first calls it with the latest. Only
    /// the request controls the task: calling the task's `resume()`, `suspend()` or `cancel()` is not supported.
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        let newHandler = QueuedHandler(queue: queue, closure: handler)
        let (firstTaskAction, _) = mutableState.write { state in
            let oldHandler = state.urlSessionTaskHandler
            state.urlSessionTaskHandler = newHandler
            return (
                state.tasks.last.flatMap { state.taskActions.enqueue(newHandler.makeCall(with: $0)) },
                oldHandler
            )
        }
        performTaskActions(from: firstTaskAction)
        return self
    }

    // MARK: credentials

    /// Answers the challenges of the server, and of some proxies on the way to it, with a user name and a password.
    ///
    /// The credentials are sent only after a challenge, and not to other servers to which a redirect leads. The request uses no
    /// other credentials, and no other request uses these. With `.forSession` and `.permanent` the session remembers, as long as
    /// it exists, which servers have accepted the credentials. It uses this for later requests with the same name and password.
    @discardableResult
    public func authenticate(
        username: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
    }

    /// Answers challenges with a credential, under the rules of `authenticate(username:password:persistence:)`. A later call
    /// replaces the credential.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        // The task's credential is set under the lock too: concurrent calls thus leave the same credential in request and task.
        mutableState.write { state in
            state.credential = credential
            state.tasks.last?.ownCredential = credential
        }
        return self
    }

    // MARK: redirects and the cache

    /// Sets the redirect handler, in place of the session's. It is a programming error to call this twice for a request.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        let isFirst = mutableState.write { state in
            guard state.redirectHandler == nil else { return false }
            state.redirectHandler = handler
            return true
        }
        precondition(isFirst, "redirect(using:) was called before for this request")
        return self
    }

    /// Sets the handler that decides what is cached, in place of the session's. It is a programming error to call this twice for
    /// a request.
    @discardableResult
    public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
        let isFirst = mutableState.write { state in
            guard state.cachedResponseHandler == nil else { return false }
            state.cachedResponseHandler = handler
            return true
        }
        precondition(isFirst, "cacheResponse(using:) was called before for this request")
        askBeforeStoring()
        return self
    }

    // MARK: adapters, retriers, monitors

    // These methods add one adapter, retrier or interceptor at the end of an existing `Interceptor`. An existing interceptor of
    // another type becomes a member of a new `Interceptor`. An interceptor that is added follows this member. An adapter or
    // retrier that is added precedes it, because an `Interceptor` calls its adapters and retriers before its interceptors.

    /// Adds an interceptor, to run after the session's and those that the request has.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        changeInterceptor { existing in
            switch existing {
            case nil: Interceptor(interceptors: [interceptor])
            case let existing as Interceptor:
                Interceptor(
                    adapters: existing.adapters, retriers: existing.retriers, interceptors: [interceptor])
            case .some(let existing): Interceptor(interceptors: [existing, interceptor])
            }
        }
    }

    /// Adds an adapter.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self {
        changeInterceptor { existing in
            switch existing {
            case nil: Interceptor(adapters: [adapter])
            case let existing as Interceptor:
                Interceptor(adapters: existing.adapters + [adapter], retriers: existing.retriers)
            case .some(let existing): Interceptor(adapters: [adapter], interceptors: [existing])
            }
        }
    }

    /// Adds a retrier.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self {
        changeInterceptor { existing in
            switch existing {
            case nil: Interceptor(retriers: [retrier])
            case let existing as Interceptor:
                Interceptor(adapters: existing.adapters, retriers: existing.retriers + [retrier])
            case .some(let existing): Interceptor(retriers: [retrier], interceptors: [existing])
            }
        }
    }

    /// Replaces the interceptor with the one that `change` returns for it.
    private func changeInterceptor(
        _ change: ((any RequestInterceptor)?) -> any RequestInterceptor
    ) -> Self {
        // `change` calls only library code. The replaced interceptor is released outside of the lock.
        _ = mutableState.write { state -> (any RequestInterceptor)? in
            let existing = state.interceptor
            state.interceptor = change(existing)
            return existing
        }
        return self
    }

    /// Adds a monitor after the existing ones. It receives the request's later events, but not those of the `URLSession`.
    @discardableResult
    public func eventMonitor(_ eventMonitor: any EventMonitor) -> Self {
        while true {
            let existing = mutableState.read { $0.eventMonitor }
            // The monitor is created outside of the lock, because the initializer reads the queues of the program's monitors.
            let extended = CompositeEventMonitor(
                queue: existing?.queue ?? underlyingQueue,
                monitors: (existing?.monitors ?? []) + [eventMonitor])
            let isStored = mutableState.write { state in
                guard state.eventMonitor === existing else { return false }
                state.eventMonitor = extended
                state.hasMonitors = true
                return true
            }
            if isStored { return self }
            // Another thread has added a monitor meanwhile: repeat with the new list.
        }
    }
}
