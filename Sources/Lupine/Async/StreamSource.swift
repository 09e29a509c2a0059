// SPDX-License-Identifier: MIT

/// Where a request's handlers put the events of a `StreamOf`. Any thread.
struct StreamSource<Element>: Sendable {
    private let continuation: AsyncStream<Element>.Continuation
    /// Weak: it keeps the request alive, and the request's handlers keep this.
    private weak var end: StreamEnd?

    init(continuation: AsyncStream<Element>.Continuation, end: StreamEnd) {
        self.continuation = continuation
        self.end = end
    }

    /// Adds an event. Nobody takes it out when the iteration has ended.
    func send(_ event: sending Element) { continuation.yield(event) }

    /// There are no more events; whoever iterates takes out what there is, and has not left early by that.
    func finish() {
        end?.forget()
        continuation.finish()
    }
}
