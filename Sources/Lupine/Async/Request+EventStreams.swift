// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The events of a request as asynchronous sequences.
///
/// For each kind of event, a request has one closure or one sequence: a new one replaces the previous one. The sequences neither
/// start the request nor cancel it. They end with the request, after its retries.
extension Request {
    /// Returns the upload progress whenever it changes. All elements are the same `Progress` object.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        StreamOf(eventsOf: self, bufferingPolicy) { source in
            uploadProgress(queue: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the download progress whenever it changes. All elements are the same `Progress` object.
    public func downloadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        StreamOf(eventsOf: self, bufferingPolicy) { source in
            downloadProgress(queue: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the `URLRequest` of each attempt, beginning with the latest existing one.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        StreamOf(eventsOf: self, bufferingPolicy) { source in
            onURLRequestCreation(on: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the `URLSessionTask` of each attempt, beginning with the latest existing one.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        StreamOf(eventsOf: self, bufferingPolicy) { source in
            onURLSessionTaskCreation(on: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the cURL command line of the request, once.
    public func cURLDescriptions(
        bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
    ) -> StreamOf<String> {
        StreamOf(eventsOf: self, bufferingPolicy) { source in
            cURLDescription(on: underlyingQueue) { source.send($0) }
        }
    }
}

extension StreamOf {
    /// Creates a sequence that finishes when the request ends. `setHandler` sets a handler of the request, which sends its events
    /// to the source of the sequence.
    init(
        eventsOf request: Request, _ bufferingPolicy: BufferingPolicy,
        setHandler: (StreamSource<Element>) -> Void
    ) {
        self.init(bufferingPolicy: bufferingPolicy) { source in
            setHandler(source)
            // The stream finishes in a block on the root queue, because events may still be queued there when the request ends.
            let queue = request.underlyingQueue
            request.onFinish { queue.async { source.finish() } }
        }
    }
}

extension Request {
    /// Cancels the request, unless it was cancelled or has finished. Called when an iteration ends before the request does.
    func cancelUnlessEnded() {
        switch state {
        case .initialized, .resumed, .suspended: cancel()
        case .cancelled, .finished: break
        }
    }
}
