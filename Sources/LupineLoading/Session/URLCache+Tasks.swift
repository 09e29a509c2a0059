// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation

/// The methods that take a task instead of a request. The key is the request that the task has sent last, after redirects, or
/// that it will send.
extension URLCache {
    /// Stores a response for a task's request, as `storeCachedResponse(_:for:)` does for a request.
    public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = Self.request(of: dataTask) else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Passes the response stored for a task's request, however old it is, to `completionHandler`; nil if there is none. The
    /// handler is called once, on a global queue. The caller does not wait for the disk.
    public func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let request = Self.request(of: dataTask)
        // The storage queue runs this job after the stores that are pending now, so the look-up finds their responses. The
        // look-up itself runs on another queue: a program's override of `cachedResponse(for:)` must not block the storage queue,
        // which serves the whole process.
        StorageQueue.run { [self] in
            DispatchQueue.global().async { completionHandler(request.flatMap(self.cachedResponse)) }
        }
    }

    /// Removes the response stored for a task's request.
    public func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = Self.request(of: dataTask) else { return }
        removeCachedResponse(for: request)
    }

    /// Returns the request that is the key. Prefers the request as sent, because it includes `Authorization`: a response to such
    /// a request is not used for requests of other users (U-12.5).
    private static func request(of task: URLSessionDataTask) -> URLRequest? {
        task.core.sentRequest ?? task.currentRequest ?? task.originalRequest
    }
}
