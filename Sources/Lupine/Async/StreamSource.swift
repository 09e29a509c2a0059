// SPDX-License-Identifier: MIT

/// Receives the events of a `StreamOf` from the request's handlers. Can be used on any thread.
struct StreamSource<Element>: Sendable {
    private let continuation: AsyncStream<StreamOf<Element>.Entry>.Continuation
    /// Counts the bytes of the buffered events; nil if they are not counted.
    private let bufferedBytes: BufferedByteCount?
    /// Weak, because the termination action retains the request, whose handlers retain this source.
    private weak var termination: StreamTermination?

    init(
        continuation: AsyncStream<StreamOf<Element>.Entry>.Continuation, termination: StreamTermination,
        bufferedBytes: BufferedByteCount?
    ) {
        self.continuation = continuation
        self.termination = termination
        self.bufferedBytes = bufferedBytes
    }

    /// Adds an event. Ignored once the iteration has ended.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - bytes: The number of content bytes in the event.
    func send(_ event: sending Element, weighing bytes: Int = 0) {
        if buffer(event, weighing: bytes) { bufferedBytes?.checkLimit() }
    }

    /// Buffers an event. Returns whether the buffered bytes may exceed the limit. After the return only the buffer retains the
    /// receipt of the bytes: if it has dropped the event, the bytes have been subtracted.
    private func buffer(_ event: sending Element, weighing bytes: Int) -> Bool {
        guard bytes > 0, let (receipt, mayExceedLimit) = bufferedBytes?.add(bytes: bytes) else {
            continuation.yield(StreamOf<Element>.Entry(element: event, receipt: nil))
            return false
        }
        continuation.yield(StreamOf<Element>.Entry(element: event, receipt: receipt))
        return mayExceedLimit
    }

    /// Finishes the stream. An iteration still gets the buffered events. The end of the iteration no longer runs the termination
    /// action.
    func finish() {
        termination?.discard()
        continuation.finish()
    }
}
