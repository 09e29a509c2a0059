// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

// What can be asked of a request while it runs, and who takes part in it. All of it may be called on any thread; of each
// kind of handler there is one, the last that was set.

extension Request {
    // MARK: progress

    /// How far the body is. One object for the life of the request, changed on the root queue.
    public var uploadProgress: Progress { progress(of: \.upload) }

    /// How far the content is. One object for the life of the request, changed on the root queue.
    public var downloadProgress: Progress { progress(of: \.download) }

    /// The object of that direction, made outside of the lock: it becomes the child of the `Progress` that is current on this
    /// thread, which is the program's.
    private func progress(of direction: WritableKeyPath<MutableState, TransferProgress>) -> Progress {
        while true {
            let known = mutableState.read { $0[keyPath: direction] }
            if let object = known.object { return object }
            let new = known.makeObject()
            if mutableState.write({ $0[keyPath: direction].adopt(new) }) { return new }
        }
    }

    /// Sets the handler of that direction. There is an object from here on.
    private func hear(
        _ direction: WritableKeyPath<MutableState, TransferProgress>, on queue: DispatchQueue,
        _ closure: @escaping ProgressHandler
    ) -> Self {
        _ = progress(of: direction)
        // Who is replaced goes away outside of the lock, here and below: it may be the last to hold what is the program's.
        var handler: TransferProgress.Handler? = .init(queue: queue, closure: closure)
        mutableState.write { swap(&$0[keyPath: direction].handler, &handler) }
        return self
    }

    /// Who hears how far the body is.
    public var uploadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        mutableState.read { $0.upload.handler }.map { ($0.closure, $0.queue) }
    }

    /// Who hears how far the content is.
    public var downloadProgressHandler: (handler: ProgressHandler, queue: DispatchQueue)? {
        mutableState.read { $0.download.handler }.map { ($0.closure, $0.queue) }
    }

    /// Has `closure` called on `queue` each time that more of the body has been sent.
    @discardableResult
    public func uploadProgress(
        queue: DispatchQueue = .main, closure: @escaping ProgressHandler
    ) -> Self {
        hear(\.upload, on: queue, closure)
    }

    /// Has `closure` called on `queue` each time that more of the content has come.
    @discardableResult
    public func downloadProgress(
        queue: DispatchQueue = .main, closure: @escaping ProgressHandler
    ) -> Self {
        hear(\.download, on: queue, closure)
    }

    // MARK: what is made for it

    /// Has `handler` called on `queue` with the request of each attempt as it will be sent, and at once with the latest one if
    /// there is one.
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        let new = Called(queue: queue, closure: handler)
        let (told, _) = mutableState.write { state in
            let old = state.urlRequestHandler
            state.urlRequestHandler = new
            return (state.requests.last.flatMap { state.actions.take(new.telling($0)) }, old)
        }
        perform(told)
        return self
    }

    /// Has `handler` called on `queue` with the task of each attempt, and at once with the latest one if there is one.
    /// Changing what a task does is up to the request: calls of its `resume()`, `suspend()` or `cancel()` are not foreseen.
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        let new = Called(queue: queue, closure: handler)
        let (told, _) = mutableState.write { state in
            let old = state.urlSessionTaskHandler
            state.urlSessionTaskHandler = new
            return (state.tasks.last.flatMap { state.actions.take(new.telling($0)) }, old)
        }
        perform(told)
        return self
    }

    // MARK: credentials

    /// Answers the challenges of the server, and of some proxies on the way there, with a name and a password. No header field
    /// is sent before one comes, and no other server is answered that a redirect leads to. Nothing that others have brought answers for the
    /// request any more, and what it brings answers for nobody else: with `.forSession` and `.permanent` the session
    /// remembers where it was good, for requests with the same name and password, as long as the session lives.
    @discardableResult
    public func authenticate(
        username: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
    }

    /// Answers the challenges of the server with a credential, on the same terms. A later call replaces it.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        // The task is handed it under the lock: of two threads the last one counts there too.
        mutableState.write { state in
            state.credential = credential
            state.tasks.last?.ownCredential = credential
        }
        return self
    }

    // MARK: redirects and the cache

    /// Has `handler` decide about redirects, instead of the session's. May be called once for a request; it is an error of the
    /// program to call it again.
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

    /// Has `handler` decide what is cached, instead of the session's. May be called once for a request; it is an error of the
    /// program to call it again.
    @discardableResult
    public func cacheResponse(using handler: any CachedResponseHandler) -> Self {
        let isFirst = mutableState.write { state in
            guard state.cachedResponseHandler == nil else { return false }
            state.cachedResponseHandler = handler
            return true
        }
        precondition(isFirst, "cacheResponse(using:) was called before for this request")
        asksWhatIsStored()
        return self
    }

    // MARK: adapters, retriers, monitors

    // An `Interceptor` that is there is taken apart and rebuilt with one member more at its end; anything else becomes
    // a member itself, behind the new adapter or retrier.

    /// Adds an interceptor, behind the session's and those that the request has.
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

    private func changeInterceptor(
        _ change: ((any RequestInterceptor)?) -> any RequestInterceptor
    ) -> Self {
        // What is made of it is the library's alone; what it took the place of goes away outside of the lock.
        _ = mutableState.write { state -> (any RequestInterceptor)? in
            let existing = state.interceptor
            state.interceptor = change(existing)
            return existing
        }
        return self
    }

    /// Adds a monitor, behind the session's. It hears of what happens to the request from now on, not of what the `URLSession`
    /// tells.
    @discardableResult
    public func eventMonitor(_ eventMonitor: any EventMonitor) -> Self {
        while true {
            let existing = mutableState.read { $0.eventMonitor }
            // Asks the monitors for their queues: not under the lock.
            let extended = CompositeEventMonitor(
                queue: existing?.queue ?? underlyingQueue,
                monitors: (existing?.monitors ?? []) + [eventMonitor])
            let isIn = mutableState.write { state in
                guard state.eventMonitor === existing else { return false }
                state.eventMonitor = extended
                return true
            }
            if isIn { return self }
        }
    }
}
