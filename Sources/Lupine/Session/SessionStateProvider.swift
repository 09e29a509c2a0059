// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The interface of a session that its `SessionDelegate` uses. Called on the root queue.
protocol SessionStateProvider: AnyObject, Sendable {
    var redirectHandler: (any RedirectHandler)? { get }
    var cachedResponseHandler: (any CachedResponseHandler)? { get }

    /// Returns the request of a task; nil for a task without one.
    func request(for task: URLSessionTask) -> Request?
    /// Called when the metrics of a task have arrived.
    func didGatherMetrics(for task: URLSessionTask)
    /// Called when a task has completed; `completion` is called when its metrics have arrived too, at once if they have.
    func didComplete(_ task: URLSessionTask, completion: @escaping @Sendable () -> Void)
    /// Returns the credential that answers a challenge; nil leaves it to the loading system.
    func credential(for task: URLSessionTask, in space: URLProtectionSpace) -> URLCredential?
    /// Called when the `URLSession` has become invalid.
    func cancelRequestsForSessionInvalidation(with error: (any Error)?)
}

extension Session: SessionStateProvider {
    /// A task with a consumer knows its request; the others are in the map.
    func request(for task: URLSessionTask) -> Request? {
        if let request = task.consumer as? Request { return request }
        return mutableState.read { $0.requestTaskMap[task] }
    }

    func didGatherMetrics(for task: URLSessionTask) {
        let completion = mutableState.write { state in
            state.requestTaskMap.disassociateIfNecessaryAfterGatheringMetrics(for: task)
                ? state.waitingCompletions.removeValue(forKey: ObjectIdentifier(task)) : nil
        }
        completion?.run()
    }

    func didComplete(_ task: URLSessionTask, completion: @escaping @Sendable () -> Void) {
        // The metrics of a task with a consumer have come before (T-4).
        if task.consumer != nil { return completion() }
        let isNow = mutableState.write { state in
            let isNow = state.requestTaskMap.disassociateIfNecessaryAfterCompleting(task)
            if !isNow { state.waitingCompletions[ObjectIdentifier(task)] = Request.Job(run: completion) }
            return isNow
        }
        if isNow { completion() }
    }

    func credential(for task: URLSessionTask, in space: URLProtectionSpace) -> URLCredential? {
        // The request's credential is for the server that the program named, not for one that a redirect leads to. Like the
        // configuration's, an identity is no longer used after a redirect to another origin, even if a later one leads back
        // (U-10.5).
        let isIdentity = space.authenticationMethod == NSURLAuthenticationMethodClientCertificate
        if space.isOfServer(at: task.originalRequest?.url), !isIdentity || !task.hasLeftOrigin,
            let own = request(for: task)?.credential
        {
            return own
        }
        // The loading system itself takes user names and passwords from the storage: it knows whether the task has its own, and
        // which proxies are answered with them. A stored identity is not used for a request with its own credential, nor after a
        // redirect to another origin.
        guard isIdentity, !task.hasLeftOrigin, request(for: task)?.credential == nil else { return nil }
        return session.configuration.urlCredentialStorage?.defaultCredential(for: space)
    }

    func cancelRequestsForSessionInvalidation(with error: (any Error)?) {
        for request in mutableState.read({ $0.activeRequests }) {
            request.performOnRootNow { request.finish(error: .sessionInvalidated(error: error)) }
        }
    }
}
