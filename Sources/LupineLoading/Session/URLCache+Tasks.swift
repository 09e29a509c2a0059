// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation

/// Access to the cache by task. The key is the request that the task has sent last, after redirects, or that it will send.
extension URLCache {
    /// Stores a response for a task's request, as `storeCachedResponse(_:for:)` does for a request.
    public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = Self.request(of: dataTask) else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Passes the response stored for a task's request, however old it is, to `completionHandler`: once, asynchronously, on a
    /// global queue. The caller does not wait for the disk.
    public func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let request = Self.request(of: dataTask)
        // The storage queue has then performed the pending stores. An override of `cachedResponse(for:)` must not run on that
        // queue, which serves the whole process.
        StorageQueue.run { [self] in
            DispatchQueue.global().async { completionHandler(request.flatMap(self.cachedResponse)) }
        }
    }

    /// Removes the response stored for a task's request.
    public func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = Self.request(of: dataTask) else { return }
        removeCachedResponse(for: request)
    }

    /// Returns the request that is the key. Prefers the sent request, because it includes `Authorization`, which decides who may
    /// receive the response (U-12.5).
    private static func request(of task: URLSessionDataTask) -> URLRequest? {
        task.core.sentRequest ?? task.currentRequest ?? task.originalRequest
    }
}
