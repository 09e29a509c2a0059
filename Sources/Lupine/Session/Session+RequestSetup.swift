// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

// The setup of each attempt of a request: convert the request, adapt it, create the body of an upload, create the task. The
// numbers in the comments below are those of the table in rule S-20.
//
// The program's code runs on the request queue, or on the thread where an adapter completes. All changes to the request are made
// in its steps, the pieces of work that its `Lane` runs one after the other.

extension Session {
    /// Starts the request's first attempt, on the root queue. Called on any thread. Repeated calls have no effect.
    func perform(_ request: Request) {
        request.enqueueStepOnRoot { self.performInStep(request) }
    }

    /// Starts the request's first attempt, unless it has begun or the request was cancelled. Called in a step of the request.
    func performInStep(_ request: Request) {
        request.deliverPendingReports()
        guard request.beginAttempt() else { return }
        performAttempt(of: request)
    }

    /// Sets up an attempt that has begun. Called in a step of the request.
    func performAttempt(of request: Request) {
        mutableState.write { _ = $0.activeRequests.insert(request) }
        // Records whether this attempt can do without code of the program.
        request.checkForProgramCode(of: self)
        switch request.preparation {
        case .conversion(let convertible, let upload):
            // An attempt without code of the program does not leave its step. A request queue that the program has chosen is
            // used for every request.
            let needsRequestQueue =
                upload != nil || !ownsRequestQueue || adapter(for: request) != nil
                || Self.callsProgramCode(toConvert: convertible)
            if needsRequestQueue {
                requestQueue.async {
                    self.convert(request, from: convertible, upload: upload, isInStep: false)
                }
            } else {
                convert(request, from: convertible, upload: nil, isInStep: true)
            }
        case .resumption(let download, let resumeData):
            guard request.mayCreateTask else { return }
            register(download.task(forResumeData: resumeData, using: session), for: request)
        }
    }

    /// Converts the request and calls the adapters (1 to 3 of S-20). Runs on the request queue, or in the request's present step
    /// if there is no adapter and the conversion calls no code of the program.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - convertible: The value that is converted to a `URLRequest`.
    ///   - upload: `request` if it is an upload, otherwise nil.
    ///   - isInStep: Whether this runs in a step. Then the request has no adapter.
    private func convert(
        _ request: Request, from convertible: any URLRequestConvertible, upload: UploadRequest?,
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
                return request.enqueueStepOnRoot { request.didFailToCreateURLRequest(with: failure) }
            }
            return request.continueOnRoot { request.didFailToCreateURLRequest(with: failure) }
        }
        // `performAttempt` has already found that there is no adapter if this runs in a step.
        guard let adapter = isInStep ? nil : adapter(for: request) else {
            if let upload {
                request.enqueueStepOnRoot { request.didCreateInitialURLRequest(initial) }
                return makeUploadable(for: upload, sentWith: initial)
            }
            if isInStep { return makeTask(for: request, unadapted: initial) }
            return request.enqueueStepOnRoot { self.makeTask(for: request, unadapted: initial) }
        }
        request.enqueueStepOnRoot { request.didCreateInitialURLRequest(initial) }
        // The cancellation itself has added a step that finishes the request.
        guard !request.isCancelled else { return }
        assertNoLockIsHeld()
        adapter.adapt(initial, using: RequestAdapterState(requestID: request.id, session: self)) { result in
            self.didAdapt(request, initial, result: result, upload: upload)
        }
    }

    /// Continues with the result of the adapters (4 to 6 of S-20). Called on the thread where the adapter completes.
    private func didAdapt(
        _ request: Request, _ initial: URLRequest, result: Result<URLRequest, any Error>,
        upload: UploadRequest?
    ) {
        let adapted: URLRequest
        do {
            adapted = try result.get()
            try adapted.validate()
        } catch {
            let failure = AFError.requestAdaptationFailed(error: error)
            return request.enqueueStepOnRoot { request.didFailToAdaptURLRequest(initial, with: failure) }
        }
        request.enqueueStepOnRoot {
            request.didAdaptInitialRequest(initial, to: adapted)
            if upload == nil { self.makeTask(for: request, sending: adapted) }
        }
        if let upload { makeUploadable(for: upload, sentWith: adapted) }
    }

    /// Creates the body of an upload, then its task. Runs on the request queue, or on the thread where the adapter completes.
    private func makeUploadable(for request: UploadRequest, sentWith urlRequest: URLRequest) {
        do {
            assertNoLockIsHeld()
            let uploadable = try request.upload.createUploadable()
            request.enqueueStepOnRoot {
                request.didCreateUploadable(uploadable)
                self.makeTask(for: request, sending: urlRequest)
            }
        } catch {
            let failure = error.asAFError(or: .createUploadableFailed(error: error))
            request.enqueueStepOnRoot { request.didFailToCreateUploadable(with: failure) }
        }
    }

    /// Stores the initial `URLRequest` of a request without adapters, then creates its task. Called in a step of the request.
    private func makeTask(for request: Request, unadapted initial: URLRequest) {
        request.didCreateInitialURLRequest(initial)
        makeTask(for: request, sending: initial)
    }

    /// Stores the final `URLRequest`, then creates the task (7 and 8 of S-20). Called in a step of the request.
    private func makeTask(for request: Request, sending urlRequest: URLRequest) {
        request.didCreateURLRequest(urlRequest)
        guard request.mayCreateTask else { return }
        register(request.task(for: urlRequest, using: session), for: request)
    }

    /// Registers a new task and passes it to its request. An invalid `URLSession` does not admit the task, which then never
    /// reports its end (U-4.4): in this case the request fails.
    private func register(_ task: URLSessionTask, for request: Request) {
        if task.isUnadmitted { return request.finish(error: .sessionInvalidated(error: nil)) }
        let storesWithoutAsking = mayStoreWithoutAsking && request.storesWithoutAsking
        if storesWithoutAsking { task.storesWithoutAsking = true }
        // A task's consumer is its request: such a task leads to its request without the map.
        if task.consumer == nil { mutableState.write { $0.requestTaskMap[request] = task } }
        request.didCreateTask(task)
        // A cache handler may have been added after the check above, but before the request had the task. Its call of
        // `askBeforeStoring` then did not reach this task.
        if storesWithoutAsking, !request.storesWithoutAsking { task.storesWithoutAsking = false }
    }

    /// Whether tasks may store responses in the cache without calling the delegate. This requires that the session has no cache
    /// handler, no monitor that receives the event, and no subclass of `SessionDelegate`.
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
        // The class that most requests use is tried first, because a cast to a class needs no lookup of a conformance.
        if let convertible = convertible as? RequestConvertible { return convertible.callsProgramCode }
        // A convertible that the library does not define is the program's code.
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
