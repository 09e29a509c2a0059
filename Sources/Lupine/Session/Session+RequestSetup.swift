// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// The setup of each attempt of a request (rule S-20): convert the request, adapt it, create the body of an upload, create the
// task. The program's code runs on the request queue, or on the thread where an adapter completes; all changes to the request are
// made in steps of the request's `Lane`.

extension Session {
    /// Starts the request's first attempt, on the root queue. Repeated calls have no effect.
    func perform(_ request: Request) {
        request.performOnRoot { self.performNow(request) }
    }

    /// Starts the request's first attempt. In a step of the request.
    func performNow(_ request: Request) {
        request.deliverPendingReports()
        guard request.beginAttempt() else { return }
        performAttempt(of: request)
    }

    /// Sets up an attempt that has begun. In a step of the request.
    func performAttempt(of request: Request) {
        mutableState.write { _ = $0.activeRequests.insert(request) }
        request.checkForProgramCode(of: self)
        switch request.preparation {
        case .conversion(let convertible, let upload):
            if upload != nil || !ownsRequestQueue || adapter(for: request) != nil
                || Self.callsProgramCode(toConvert: convertible)
            {
                requestQueue.async { self.convert(request, convertible, upload, isInStep: false) }
            } else {
                convert(request, convertible, nil, isInStep: true)
            }
        case .resumption(let download, let data):
            guard request.mayCreateTask else { return }
            didCreate(download.task(forResumeData: data, using: session), for: request)
        }
    }

    /// Converts the request and calls the adapters (1 to 3 of S-20). Runs on the request queue; or, if that calls no code of the
    /// program, in the request's present step (`isInStep`).
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
        // `performAttempt` has already found that there is no adapter if this runs in a step.
        guard let adapter = isInStep ? nil : adapter(for: request) else {
            if let upload {
                request.performOnRoot { request.didCreateInitialURLRequest(initial) }
                return makeUploadable(for: upload, initial)
            }
            if isInStep { return makeTask(for: request, unadapted: initial) }
            return request.performOnRoot { self.makeTask(for: request, unadapted: initial) }
        }
        request.performOnRoot { request.didCreateInitialURLRequest(initial) }
        // The request has a step that finishes it after the cancellation.
        guard !request.isCancelled else { return }
        assertNoLockIsHeld()
        adapter.adapt(initial, using: RequestAdapterState(requestID: request.id, session: self)) { result in
            self.didAdapt(request, initial, result, upload)
        }
    }

    /// Handles the result of the adapters (4 to 6 of S-20). On the thread where the adapter completes.
    private func didAdapt(
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

    /// Creates the content of an upload, then its task. Runs on the request queue, or on the thread where the adapter completes.
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

    /// Stores the initial `URLRequest` of a request without adapters, then creates its task. In a step of the request.
    private func makeTask(for request: Request, unadapted initial: URLRequest) {
        request.didCreateInitialURLRequest(initial)
        makeTask(for: request, initial)
    }

    /// Stores the final `URLRequest`, then creates the task (7 and 8 of S-20). In a step of the request.
    private func makeTask(for request: Request, _ urlRequest: URLRequest) {
        request.didCreateURLRequest(urlRequest)
        guard request.mayCreateTask else { return }
        didCreate(request.task(for: urlRequest, using: session), for: request)
    }

    /// Registers a task and passes it to its request. An orphan, a task that the invalid `URLSession` no longer accepts, would
    /// never report its end (U-4.4), so its request fails.
    private func didCreate(_ task: URLSessionTask, for request: Request) {
        if task.isUnadmitted { return request.finish(error: .sessionInvalidated(error: nil)) }
        let storesWithoutAsking = mayStoreWithoutAsking && request.storesWithoutAsking
        if storesWithoutAsking { task.storesWithoutAsking = true }
        // A consumer is the request itself: such a task leads to its request without the map.
        if task.consumer == nil { mutableState.write { $0.requestTaskMap[request] = task } }
        request.didCreateTask(task)
        // A cache handler that was added after the check above, but before the request had the task, could not reset the flag.
        if storesWithoutAsking, !request.storesWithoutAsking { task.storesWithoutAsking = false }
    }

    /// Whether tasks may store responses in the cache without calling the delegate: the session has no cache handler, no monitor
    /// that receives the event, and no subclass of `SessionDelegate`.
    private var mayStoreWithoutAsking: Bool {
        !delegate.isSubclass && cachedResponseHandler == nil && eventMonitor.onlyPostsNotifications
    }

    /// Whether the conversion calls no code of the program, and the resulting `URLRequest` holds no object of the program.
    static func isFreeOfProgramCode(_ convertible: any URLRequestConvertible) -> Bool {
        if let convertible = convertible as? RequestConvertible { return !convertible.callsProgramCode }
        return (convertible as? URLRequest)?.mayContainProgramObjects == false
    }

    /// Whether the conversion calls the program's code.
    private static func callsProgramCode(toConvert convertible: any URLRequestConvertible) -> Bool {
        // A cast to the class that most requests use needs no conformance lookup.
        if let convertible = convertible as? RequestConvertible { return convertible.callsProgramCode }
        return (convertible as? any LibraryConvertible)?.callsProgramCode ?? true
    }

    // MARK: adapters and retriers

    /// Returns an adapter that calls the session's interceptor, then the request's; nil if there is none.
    private func adapter(for request: Request) -> (any RequestAdapter)? {
        if interceptor == nil, !request.hasInterceptor { return nil }
        guard let requestInterceptor = request.interceptor else { return interceptor }
        guard let interceptor else { return requestInterceptor }
        return Interceptor(adapters: [interceptor, requestInterceptor])
    }

    /// Returns a retrier that asks the session's interceptor, then the request's; nil if there is none.
    func retrier(for request: Request) -> (any RequestRetrier)? {
        guard let requestInterceptor = request.interceptor else { return interceptor }
        guard let interceptor else { return requestInterceptor }
        return Interceptor(retriers: [interceptor, requestInterceptor])
    }
}
