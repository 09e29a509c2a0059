// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation

/// The cache under the request of a task: the one that the task is sending now, after redirects, or will send.
extension URLCache {
    /// Stores a response for a task's request, as `storeCachedResponse(_:for:)` does for a request.
    public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = Self.request(of: dataTask) else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Hands what is stored for a task's request, however old it is, to `completionHandler`: once, later, on a queue of the
    /// system's. Nobody waits for the disk.
    public func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let request = Self.request(of: dataTask)
        // Behind what is to be stored. The storage queue is the whole process's: a program's code, an override of
        // `cachedResponse(for:)` too, may stay longer than it has time for.
        StorageQueue.run { [self] in
            DispatchQueue.global().async { completionHandler(request.flatMap(self.cachedResponse)) }
        }
    }

    /// Removes what is stored for a task's request.
    public func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = Self.request(of: dataTask) else { return }
        removeCachedResponse(for: request)
    }

    /// With the `Authorization` that went out: who may have the answer depends on it (U-12.5).
    private static func request(of task: URLSessionDataTask) -> URLRequest? {
        task.core.sentRequest ?? task.currentRequest ?? task.originalRequest
    }
}
