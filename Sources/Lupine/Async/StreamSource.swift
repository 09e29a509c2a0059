// SPDX-License-Identifier: MIT

/// Receives the events of a `StreamOf` from the request's handlers. Can be used on any thread.
struct StreamSource<Element>: Sendable {
    private let continuation: AsyncStream<StreamOf<Element>.Entry>.Continuation
    /// Counts the bytes of the buffered events; nil if they are not counted.
    private let gathered: BufferedByteCount?
    /// Weak, because `end` retains the request, whose handlers retain this source.
    private weak var end: StreamTermination?

    init(
        continuation: AsyncStream<StreamOf<Element>.Entry>.Continuation, end: StreamTermination,
        gathered: BufferedByteCount?
    ) {
        self.continuation = continuation
        self.end = end
        self.gathered = gathered
    }

    /// Adds an event that took `bytes` bytes. Ignored when the iteration has ended.
    func send(_ event: sending Element, weighing bytes: Int = 0) {
        if put(event, weighing: bytes) { gathered?.checkLimit() }
    }

    /// Buffers an event. Returns true when the buffered bytes may exceed the limit. On return only the buffer holds the receipt,
    /// whose release subtracts the bytes, also when the buffer dropped the event.
    private func put(_ event: sending Element, weighing bytes: Int) -> Bool {
        guard bytes > 0, let (receipt, mayExceedLimit) = gathered?.receipt(for: bytes) else {
            continuation.yield(StreamOf<Element>.Entry(element: event, receipt: nil))
            return false
        }
        continuation.yield(StreamOf<Element>.Entry(element: event, receipt: receipt))
        return mayExceedLimit
    }

    /// Finishes the stream. An iteration still gets the buffered events; ending it no longer cancels the request.
    func finish() {
        end?.forget()
        continuation.finish()
    }
}
