// SPDX-License-Identifier: MIT

internal import LupineLoading

/// What a `SessionDelegate` needs of its session.
protocol SessionStateProvider: AnyObject, Sendable {
    var redirectHandler: (any RedirectHandler)? { get }
    var cachedResponseHandler: (any CachedResponseHandler)? { get }

    /// The request of a task; nil for a task that belongs to none.
    func request(for task: URLSessionTask) -> Request?
    /// The metrics of a task have come.
    func didGatherMetrics(for task: URLSessionTask)
    /// A task has completed; `completion` is called when its metrics have come too, at once if they have.
    func didComplete(_ task: URLSessionTask, completion: @escaping @Sendable () -> Void)
    /// What answers a challenge; nil leaves it to the loading system.
    func credential(for task: URLSessionTask, in space: URLProtectionSpace) -> URLCredential?
    /// The `URLSession` has become invalid.
    func cancelRequestsForSessionInvalidation(with error: (any Error)?)
}

extension Session: SessionStateProvider {
    func request(for task: URLSessionTask) -> Request? { mutableState.read { $0.requestTaskMap[task] } }

    func didGatherMetrics(for task: URLSessionTask) {
        let completion = mutableState.write { state in
            state.requestTaskMap.disassociateIfNecessaryAfterGatheringMetrics(for: task)
                ? state.waitingCompletions.removeValue(forKey: ObjectIdentifier(task)) : nil
        }
        completion?.run()
    }

    func didComplete(_ task: URLSessionTask, completion: @escaping @Sendable () -> Void) {
        let isNow = mutableState.write { state in
            let isNow = state.requestTaskMap.disassociateIfNecessaryAfterCompleting(task)
            if !isNow { state.waitingCompletions[ObjectIdentifier(task)] = Request.Job(run: completion) }
            return isNow
        }
        if isNow { completion() }
    }

    func credential(for task: URLSessionTask, in space: URLProtectionSpace) -> URLCredential? {
        // The request's own is for the server that the program named, not for whomever a redirect leads to. An identity stays behind
        // like the configuration's, also where a later redirect leads back (U-10.5).
        let isIdentity = space.authenticationMethod == NSURLAuthenticationMethodClientCertificate
        if space.isOfServer(at: task.originalRequest?.url), !isIdentity || !task.hasLeftOrigin,
            let own = request(for: task)?.credential
        {
            return own
        }
        // Names and passwords of the storage are the loading system's to take, which knows whether the task has its own, and
        // which proxies are answered with that. An identity in it is nobody's who brought a credential, and no redirect's.
        guard isIdentity, !task.hasLeftOrigin, request(for: task)?.credential == nil else { return nil }
        return session.configuration.urlCredentialStorage?.defaultCredential(for: space)
    }

    func cancelRequestsForSessionInvalidation(with error: (any Error)?) {
        for request in mutableState.read({ $0.activeRequests }) {
            request.step { request.finish(error: .sessionInvalidated(error: error)) }
        }
    }
}
