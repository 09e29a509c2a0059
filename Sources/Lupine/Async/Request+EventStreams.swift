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
        events(bufferingPolicy) { source in
            uploadProgress(queue: underlyingQueue) { source.send($0) }
        }
    }

    /// Returns the download progress whenever it changes. All elements are the same `Progress` object.
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

    /// Returns a sequence that finishes when the request ends. `setHandler` sets a handler of the request, which sends its events
    /// to the source of the sequence.
    func events<Element>(
        _ bufferingPolicy: StreamOf<Element>.BufferingPolicy, setHandler: (StreamSource<Element>) -> Void
    ) -> StreamOf<Element> {
        StreamOf(bufferingPolicy: bufferingPolicy) { source in
            setHandler(source)
            // The stream finishes in a block on the root queue, because events may still be queued there when the request ends.
            let queue = underlyingQueue
            onFinish { queue.async { source.finish() } }
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
