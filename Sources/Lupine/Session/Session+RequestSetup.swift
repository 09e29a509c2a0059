// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// The steps of each attempt of a request: convert it, adapt it, create the body of an upload, create its task. The program's code
// runs on the request queue, or where an adapter completes; all changes to the request are made in steps of it.

extension Session {
    /// Runs the pipeline for a request. Repeated calls have no effect until the request is to be retried.
    func perform(_ request: Request) {
        request.performOnRoot { self.performNow(request) }
    }

    /// Runs the pipeline for a request, in a step of it.
    func performNow(_ request: Request) {
        request.deliverChanges()
        guard request.beginsAttempt() else { return }
        performAttempt(of: request)
    }

    /// Runs the pipeline for an attempt that has begun, in a step of the request.
    func performAttempt(of request: Request) {
        mutableState.write { _ = $0.activeRequests.insert(request) }
        request.findProgramCode(of: self)
        switch request.preparation {
        case .conversion(let convertible, let upload):
            if upload != nil || !ownsRequestQueue || adapter(for: request) != nil
                || Self.isForeign(convertible)
            {
                requestQueue.async { self.convert(request, convertible, upload, isInStep: false) }
            } else {
                convert(request, convertible, nil, isInStep: true)
            }
        case .resumption(let download, let data):
            guard request.goesOn else { return }
            didCreate(download.task(forResumeData: data, using: session), for: request)
        }
    }

    /// Steps 1 to 3. On the request queue, or in the request's present step if they call none of the program's code.
    private func convert(
        _ request: Request, _ convertible: any URLRequestConvertible, _ upload: UploadRequest?,
        isInStep: Bool
    ) {
        let initial: URLRequest
        do {
            assertNoLockIsHeld()
            initial = try convertible.asURLRequest()
            try initial.validate()
        } catch {
            let failure = error.asAFError(or: .createURLRequestFailed(error: error))
            guard isInStep else {
                return request.performOnRoot { request.didFailToCreateURLRequest(with: failure) }
            }
            return request.continueOnRoot { request.didFailToCreateURLRequest(with: failure) }
        }
        // There is no adapter if this runs in a step.
        guard let adapter = isInStep ? nil : adapter(for: request) else {
            if let upload {
                request.performOnRoot { request.didCreateInitialURLRequest(initial) }
                return makeUploadable(for: upload, initial)
            }
            if isInStep { return makeTask(for: request, createdAs: initial) }
            return request.performOnRoot { self.makeTask(for: request, createdAs: initial) }
        }
        request.performOnRoot { request.didCreateInitialURLRequest(initial) }
        guard !request.isCancelled else { return }
        assertNoLockIsHeld()
        adapter.adapt(initial, using: RequestAdapterState(requestID: request.id, session: self)) { result in
            self.adapted(request, initial, result, upload)
        }
    }

    /// Steps 4 to 6. On the queue where the adapter completes.
    private func adapted(
        _ request: Request, _ initial: URLRequest, _ result: Result<URLRequest, any Error>,
        _ upload: UploadRequest?
    ) {
        let adapted: URLRequest
        do {
            adapted = try result.get()
            try adapted.validate()
        } catch {
            let failure = AFError.requestAdaptationFailed(error: error)
            return request.performOnRoot { request.didFailToAdaptURLRequest(initial, with: failure) }
        }
        request.performOnRoot {
            request.didAdaptInitialRequest(initial, to: adapted)
            if upload == nil { self.makeTask(for: request, adapted) }
        }
        if let upload { makeUploadable(for: upload, adapted) }
    }

    private func makeUploadable(for request: UploadRequest, _ urlRequest: URLRequest) {
        do {
            assertNoLockIsHeld()
            let uploadable = try request.upload.createUploadable()
            request.performOnRoot {
                request.didCreateUploadable(uploadable)
                self.makeTask(for: request, urlRequest)
            }
        } catch {
            let failure = error.asAFError(or: .createUploadableFailed(error: error))
            request.performOnRoot { request.didFailToCreateUploadable(with: failure) }
        }
    }

    /// Creates the task of a request without adapters, in a step of it.
    private func makeTask(for request: Request, createdAs initial: URLRequest) {
        request.didCreateInitialURLRequest(initial)
        makeTask(for: request, initial)
    }

    /// Steps 7 and 8, in a step of the request.
    private func makeTask(for request: Request, _ urlRequest: URLRequest) {
        request.didCreateURLRequest(urlRequest)
        guard request.goesOn else { return }
        didCreate(request.task(for: urlRequest, using: session), for: request)
    }

    /// Registers a task and gives it to its request. A task that the `URLSession` no longer accepts would never report its end
    /// (U-4.4), so its request fails.
    private func didCreate(_ task: URLSessionTask, for request: Request) {
        if task.isOrphan { return request.finish(error: .sessionInvalidated(error: nil)) }
        let storesUnasked = storesUnasked && request.storesUnasked
        if storesUnasked { task.storesUnasked = true }
        if task.consumer == nil { mutableState.write { $0.requestTaskMap[request] = task } }
        request.didCreateTask(task)
        // A handler that was added after the check above, but before the request had the task, could not reset this.
        if storesUnasked, !request.storesUnasked { task.storesUnasked = false }
    }

    /// Whether responses may be cached without asking: the session has no cache handler, no monitor that receives the event, and
    /// no subclass of `SessionDelegate`.
    private var storesUnasked: Bool {
        !delegate.isSubclass && cachedResponseHandler == nil && eventMonitor.onlyPostsNotifications
    }

    /// Whether a request made of this holds nothing of the program's, and no code of the program's makes it.
    static func isOwn(_ convertible: any URLRequestConvertible) -> Bool {
        if let own = convertible as? RequestConvertible { return !own.isForeign }
        return (convertible as? URLRequest)?.holdsObjects == false
    }

    /// Whether the conversion calls the program's code.
    private static func isForeign(_ convertible: any URLRequestConvertible) -> Bool {
        // The type that most requests use, without a conformance lookup.
        if let own = convertible as? RequestConvertible { return own.isForeign }
        return (convertible as? any LibraryConvertible)?.isForeign ?? true
    }

    // MARK: adapters and retriers

    /// Combines the interceptors: the session's runs before the request's.
    private func adapter(for request: Request) -> (any RequestAdapter)? {
        if interceptor == nil, !request.hasInterceptor { return nil }
        guard let own = request.interceptor else { return interceptor }
        guard let interceptor else { return own }
        return Interceptor(adapters: [interceptor, own])
    }

    /// Combines the interceptors: the session's runs before the request's.
    func retrier(for request: Request) -> (any RequestRetrier)? {
        guard let own = request.interceptor else { return interceptor }
        guard let interceptor else { return own }
        return Interceptor(retriers: [interceptor, own])
    }
}
