// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The members of a session that its `SessionDelegate` uses. Called on the root queue.
protocol SessionStateProvider: AnyObject, Sendable {
    var redirectHandler: (any RedirectHandler)? { get }
    var cachedResponseHandler: (any CachedResponseHandler)? { get }

    /// Returns the request of a task; nil for a task without one.
    func request(for task: URLSessionTask) -> Request?
    /// Called when the metrics of a task have arrived.
    func didGatherMetrics(for task: URLSessionTask)
    /// Called when a task has completed. Calls `completion` at once if the task's metrics have arrived, otherwise when they
    /// arrive.
    func didComplete(_ task: URLSessionTask, completion: @escaping @Sendable () -> Void)
    /// Returns the credential that answers a challenge; nil leaves it to the loading system.
    func credential(for task: URLSessionTask, in space: URLProtectionSpace) -> URLCredential?
    /// Finishes the active requests with `sessionInvalidated`. Called when the `URLSession` has become invalid.
    func cancelRequestsForSessionInvalidation(with error: (any Error)?)
}

extension Session: SessionStateProvider {
    /// Returns a task's consumer if that is a request; otherwise looks the task up in the map. A consumer receives a task's
    /// content in place of the delegate.
    func request(for task: URLSessionTask) -> Request? {
        if let request = task.consumer as? Request { return request }
        return mutableState.read { $0.requestTaskMap[task] }
    }

    func didGatherMetrics(for task: URLSessionTask) {
        let completion = mutableState.write { state in
            let isCompleted = state.requestTaskMap.disassociateIfNecessaryAfterGatheringMetrics(for: task)
            return isCompleted ? state.waitingCompletions.removeValue(forKey: ObjectIdentifier(task)) : nil
        }
        completion?.run()
    }

    func didComplete(_ task: URLSessionTask, completion: @escaping @Sendable () -> Void) {
        // The metrics of a task with a consumer always arrive before its completion (T-4).
        if task.consumer != nil { return completion() }
        let hasMetrics = mutableState.write { state in
            let hasMetrics = state.requestTaskMap.disassociateIfNecessaryAfterCompleting(task)
            if !hasMetrics {
                state.waitingCompletions[ObjectIdentifier(task)] = Request.Job(run: completion)
            }
            return hasMetrics
        }
        if hasMetrics { completion() }
    }

    func credential(for task: URLSessionTask, in space: URLProtectionSpace) -> URLCredential? {
        // The request's credential is for the server that the program named, not for a server to which a redirect leads. After a
        // redirect to another origin, the request's client identity is not used again, even if a later redirect leads back. The
        // same rule holds for the configuration's client identity (U-10.5).
        let asksForIdentity = space.authenticationMethod == NSURLAuthenticationMethodClientCertificate
        let mayUseCredential =
            space.isOfServer(at: task.originalRequest?.url) && (!asksForIdentity || !task.hasLeftOrigin)
        if mayUseCredential, let credential = request(for: task)?.credential { return credential }
        // The storage is searched only for client identities here. The loading system itself looks up user names and passwords:
        // it knows whether the task has its own, and which proxies may receive them. A stored identity is not used for a request
        // with its own credential, nor after a redirect to another origin.
        guard asksForIdentity, !task.hasLeftOrigin, request(for: task)?.credential == nil else { return nil }
        return session.configuration.urlCredentialStorage?.defaultCredential(for: space)
    }

    func cancelRequestsForSessionInvalidation(with error: (any Error)?) {
        for request in mutableState.read({ $0.activeRequests }) {
            request.performStepOnRoot { request.finish(error: .sessionInvalidated(error: error)) }
        }
    }
}
