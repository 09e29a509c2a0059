// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The events of a request as asynchronous sequences.
///
/// Each sequence replaces the closure for the same event: only the one that is set last, closure or sequence, receives it.
/// The sequences neither start the request nor cancel it. They end with the request, after its retries.
extension Request {
    /// Returns the upload progress, each time that it changes. The elements are the same `Progress` object.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        events(bufferingPolicy) { source in
            uploadProgress(queue: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the download progress, each time that it changes. The elements are the same `Progress` object.
    public func downloadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        events(bufferingPolicy) { source in
            downloadProgress(queue: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the `URLRequest` of each attempt, beginning with the latest existing one.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        events(bufferingPolicy) { source in
            onURLRequestCreation(on: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the `URLSessionTask` of each attempt, beginning with the latest existing one.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        events(bufferingPolicy) { source in
            onURLSessionTaskCreation(on: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the cURL command line of the request, once.
    public func cURLDescriptions(
        bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
    ) -> StreamOf<String> {
        events(bufferingPolicy) { source in
            cURLDescription(on: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the events that `listen` sends to the source, until the request has ended.
    func events<Element>(
        _ bufferingPolicy: StreamOf<Element>.BufferingPolicy, listen: (StreamSource<Element>) -> Void
    ) -> StreamOf<Element> {
        StreamOf(bufferingPolicy: bufferingPolicy) { source in
            listen(source)
            // Finishes through the root queue: events may still be queued there when the request ends.
            let queue = underlyingQueue
            onFinish { queue.async { source.finish() } }
        }
    }
}

extension Request {
    /// Cancels a request whose sequence was left early, unless the request has ended already.
    func cancelUnlessEnded() {
        switch state {
        case .initialized, .resumed, .suspended: cancel()
        case .cancelled, .finished: break
        }
    }
}
