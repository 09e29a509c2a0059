// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Something of the program's that looks around when it goes away: under a lock of the library's it would never come back.
final class Parting: Sendable {
    private let look: @Sendable () -> Void

    init(_ look: @escaping @Sendable () -> Void) { self.look = look }

    deinit {
        assertNoLockIsHeld()
        look()
    }

    /// Is kept as long as who calls this is.
    func stays() {}
}

/// An error of the program's that is an object.
final class PartingError: Error, Sendable {
    private let parting: Parting

    init(_ look: @escaping @Sendable () -> Void) { parting = Parting(look) }
}

/// A stream of the program's that is an object.
final class PartingStream: InputStream {
    private let parting: Parting

    init(_ look: @escaping @Sendable () -> Void) {
        parting = Parting(look)
        super.init(data: Data())
    }
}

/// Everything that can be asked of a request on any thread.
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
    if let stream = request as? DataStreamRequest { stream.weigh(0) }
    if let socket = request as? WebSocketRequest { socket.weigh(0) }
}
