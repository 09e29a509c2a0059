// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// What happens to a request, as asynchronous sequences.
///
/// Each takes the place of the closure that would hear of the same: the one that is set last, closure or sequence, is
/// the one that hears. They neither start the request nor cancel it, and end with it, after its retries.
extension Request {
    /// How far the upload is, each time that it has got on. It is the same `Progress` each time.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        events(bufferingPolicy) { source in
            uploadProgress(queue: underlyingQueue) { source.send($0) }
        }
    }

    /// How far the download is, each time that it has got on. It is the same `Progress` each time.
    public func downloadProgress(
        bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
    ) -> StreamOf<Progress> {
        events(bufferingPolicy) { source in
            downloadProgress(queue: underlyingQueue) { source.send($0) }
        }
    }

    /// The `URLRequest` of each attempt, and the latest one that there is already.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        events(bufferingPolicy) { source in
            onURLRequestCreation(on: underlyingQueue) { source.send($0) }
        }
    }

    /// The `URLSessionTask` of each attempt, and the latest one that there is already.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        events(bufferingPolicy) { source in
            onURLSessionTaskCreation(on: underlyingQueue) { source.send($0) }
        }
    }

    /// The request as a command line for cURL, once.
    public func cURLDescriptions(
        bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
    ) -> StreamOf<String> {
        events(bufferingPolicy) { source in
            cURLDescription(on: underlyingQueue) { source.send($0) }
        }
    }

    /// The events that `listen` has sent to the source, until the request has ended.
    fileprivate func events<Element>(
        _ bufferingPolicy: StreamOf<Element>.BufferingPolicy, listen: (StreamSource<Element>) -> Void
    ) -> StreamOf<Element> {
        StreamOf(bufferingPolicy: bufferingPolicy) { source in
            listen(source)
            // Events are on their way through the root queue when the request ends in the same turn of it.
            let queue = underlyingQueue
            onFinish { queue.async { source.finish() } }
        }
    }
}

extension Request {
    /// Cancels a request whose sequence was left early, unless it has come to its end already.
    func cancelUnlessEnded() {
        switch state {
        case .initialized, .resumed, .suspended: cancel()
        case .cancelled, .finished: break
        }
    }
}

extension DataRequest {
    /// The response of each attempt, before its content.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> {
        events(bufferingPolicy) { source in
            onHTTPResponse(on: underlyingQueue) { (response: HTTPURLResponse) in source.send(response) }
        }
    }

    /// Has `handler` called with the response of each attempt, in a task of its own; the content waits for its answer.
    /// It takes the place of a handler that was set before.
    @_disfavoredOverload
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self {
        onHTTPResponse(on: underlyingQueue) { response, answer in
            Task { answer(await handler(response)) }
        }
    }

    /// Has `handler` called with the response of each attempt, in a task of its own; the content waits until it
    /// returns. It takes the place of a handler that was set before.
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void
    ) -> Self {
        onHTTPResponse { response in
            await handler(response)
            return .allow
        }
    }
}

extension DataStreamRequest {
    /// The response of each attempt, before its content.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> {
        events(bufferingPolicy) { source in
            onHTTPResponse(on: underlyingQueue) { (response: HTTPURLResponse) in source.send(response) }
        }
    }

    /// Has `handler` called with the response of each attempt, in a task of its own; the content waits for its answer.
    /// It takes the place of a handler that was set before.
    @_disfavoredOverload
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self {
        onHTTPResponse(on: underlyingQueue) { response, answer in
            Task { answer(await handler(response)) }
        }
    }

    /// Has `handler` called with the response of each attempt, in a task of its own; the content waits until it
    /// returns. It takes the place of a handler that was set before.
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void
    ) -> Self {
        onHTTPResponse { response in
            await handler(response)
            return .allow
        }
    }
}
