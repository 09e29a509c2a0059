// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// An object of the program that calls a closure in its `deinit`. The closure uses the library, and would deadlock if the
/// library held a lock while releasing the object.
final class Parting: Sendable {
    private let look: @Sendable () -> Void

    init(_ look: @escaping @Sendable () -> Void) { self.look = look }

    deinit {
        assertNoLockIsHeld()
        look()
    }

    /// Does nothing; a closure that calls it retains the object.
    func stays() {}
}

/// An error of the program that owns an object.
final class PartingError: Error, Sendable {
    private let parting: Parting

    init(_ look: @escaping @Sendable () -> Void) { parting = Parting(look) }
}

/// A stream of the program that owns an object.
final class PartingStream: InputStream {
    private let parting: Parting

    init(_ look: @escaping @Sendable () -> Void) {
        parting = Parting(look)
        super.init(data: Data())
    }
}

/// Reads everything of a request that may be read on any thread.
func askEverything(of request: Request) {
    _ = (request.id, request.state, request.error as Any?, request.retryCount)
    _ = (
        request.isInitialized, request.isResumed, request.isSuspended, request.isCancelled, request.isFinished
    )
    _ = (request.eventMonitor, request.interceptor, request.redirectHandler, request.cachedResponseHandler)
    _ = (request.credential, request.requests, request.firstRequest, request.lastRequest, request.request)
    _ = (request.performedRequests, request.response, request.tasks, request.firstTask, request.lastTask)
    _ = (request.task, request.allMetrics, request.firstMetrics, request.lastMetrics, request.metrics)
    _ = (request.uploadProgress, request.downloadProgress)
    _ = (request.uploadProgressHandler == nil, request.downloadProgressHandler == nil)
    _ = (request.underlyingQueue, request.serializationQueue, request.delegate)
    _ = (request.description, request.cURLDescription(), request.hashValue)
    _ = (request as? DataRequest)?.data
    _ = (request as? UploadRequest)?.uploadable
    _ = (request as? DownloadRequest).map { ($0.resumeData, $0.fileURL) }
    if let stream = request as? DataStreamRequest { stream.changeBacklog(by: 0) }
    if let socket = request as? WebSocketRequest { socket.changeBacklog(by: 0) }
}
