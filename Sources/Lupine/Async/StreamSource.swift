// SPDX-License-Identifier: MIT

/// Receives events from a request's handlers, and adds them to the buffer of a `StreamOf`. Can be used on any thread.
struct StreamSource<Element>: Sendable {
    private let continuation: AsyncStream<StreamOf<Element>.Entry>.Continuation
    /// Counts the bytes of the buffered events; nil if they are not counted.
    private let bufferedBytes: BufferedByteCount?
    /// The reference is weak, because the termination action retains the request, whose handlers retain this source.
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
    ///   - byteCount: The number of bytes for which the event counts.
    func send(_ event: sending Element, weighing byteCount: Int = 0) {
        // The limit is checked when `buffer` has returned, because by then the bytes of a dropped event have been subtracted.
        let mayExceedLimit = buffer(event, weighing: byteCount)
        if mayExceedLimit { bufferedBytes?.checkLimit() }
    }

    /// Buffers an event. Returns whether the buffered bytes may exceed the limit. After the return only the buffer retains the
    /// object that subtracts the bytes: if the buffer has dropped the event, the bytes have been subtracted.
    private func buffer(_ event: sending Element, weighing byteCount: Int) -> Bool {
        guard byteCount > 0, let (elementBytes, mayExceedLimit) = bufferedBytes?.add(bytes: byteCount) else {
            continuation.yield(StreamOf<Element>.Entry(element: event, bytes: nil))
            return false
        }
        continuation.yield(StreamOf<Element>.Entry(element: event, bytes: elementBytes))
        return mayExceedLimit
    }

    /// Finishes the stream. An iteration still returns the buffered events. Its end does not run the termination action, because
    /// the request has ended too.
    func finish() {
        termination?.discard()
        continuation.finish()
    }
}
