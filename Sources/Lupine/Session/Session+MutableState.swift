// SPDX-License-Identifier: MIT

extension Session {
    /// The state that `mutableState` guards with its lock.
    struct MutableState {
        /// The requests that were performed and whose handlers have not been called.
        var activeRequests: Set<Request> = []
        /// The active requests and their latest tasks.
        var requestTaskMap = RequestTaskMap()
        /// The calls that report the completion of tasks whose metrics have not arrived, by the task's object identifier.
        var waitingCompletions: [ObjectIdentifier: Request.Job] = [:]
    }
}
