// SPDX-License-Identifier: MIT

public import LupineLoading

// The same as in `DataStreamRequest+EventStreams`: Alamofire declares these methods for data and stream requests.
extension DataRequest {
    /// Returns a sequence of the responses of all attempts. Each is returned before its content is received.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> {
        StreamOf(eventsOf: self, bufferingPolicy) { source in
            onHTTPResponse(on: underlyingQueue) { (response: HTTPURLResponse) in source.send(response) }
        }
    }

    /// Calls `handler` with the response of each attempt, in a new task. The request receives the content once the handler has
    /// returned `allow`. Replaces a handler that was set before.
    @_disfavoredOverload
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self {
        onHTTPResponse(on: underlyingQueue) { response, completionHandler in
            Task { completionHandler(await handler(response)) }
        }
    }

    /// Calls `handler` with the response of each attempt, in a new task. The request receives the content once the handler has
    /// returned. Replaces a handler that was set before.
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
