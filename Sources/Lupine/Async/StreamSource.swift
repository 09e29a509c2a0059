// SPDX-License-Identifier: MIT

/// Where a request's handlers put the events of a `StreamOf`. Any thread.
struct StreamSource<Element>: Sendable {
    private let continuation: AsyncStream<StreamOf<Element>.Entry>.Continuation
    private let gathered: GatheredBytes?
    /// Weak: it keeps the request alive, and the request's handlers keep this.
    private weak var end: StreamEnd?

    init(
        continuation: AsyncStream<StreamOf<Element>.Entry>.Continuation, end: StreamEnd,
        gathered: GatheredBytes?
    ) {
        self.continuation = continuation
        self.end = end
        self.gathered = gathered
    }

    /// Adds an event that came with so many bytes. Nobody takes it out when the iteration has ended.
    func send(_ event: sending Element, weighing bytes: Int = 0) {
        if put(event, weighing: bytes) { gathered?.judge() }
    }

    /// Says whether too much may wait now. Nothing but the buffer has the receipt when it returns.
    private func put(_ event: sending Element, weighing bytes: Int) -> Bool {
        guard bytes > 0, let (receipt, isDoubtful) = gathered?.receipt(for: bytes) else {
            continuation.yield(StreamOf<Element>.Entry(element: event, receipt: nil))
            return false
        }
        continuation.yield(StreamOf<Element>.Entry(element: event, receipt: receipt))
        return isDoubtful
    }

    /// There are no more events; whoever iterates takes out what there is, and has not left early by that.
    func finish() {
        end?.forget()
        continuation.finish()
    }
}
