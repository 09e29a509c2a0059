// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink of a data task whose response became a stream. A sink receives the response and the content of a task. This sink
/// buffers the content until the program reads it, and pauses the load when too much is buffered
/// (Documentation/Behaviour/06-url-loading.md, section 7.4).
///
/// The task completes when all content has arrived, possibly before the program has read it. The task retains the sink, so the
/// sink retains neither the task nor the stream.
final class ContentStreamSink: TaskSink, StreamOwner {
    private weak let task: TaskCore?
    private weak let stream: StreamCore?
    private let buffer: ContentBuffer

    init(_ task: TaskCore, _ stream: StreamCore) {
        self.task = task
        self.stream = stream
        buffer = ContentBuffer { [weak task] in task?.resumeReading() }
    }

    /// Starts the stream on this loop.
    func begin(on loop: EventLoop) {
        // `LoopBound` permits access to the driver only on the loop.
        let driver = LoopBound(
            sending: StreamDriver(on: loop, for: self, writeFault: .readOnly), to: loop)
        // If the loop has shut down, the job does not run, and the stream ends with its first operation.
        _ = loop.execute { [buffer] in driver.value.open(ContentWire(buffer, on: loop)) }
        stream?.begin(driver, on: loop)
    }

    // MARK: called by the load

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .deliver }

    /// Appends the data to the task's queue, and not directly to the buffer, because the queue may still have data from before
    /// the conversion.
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand {
        switch buffer.demand {
        case .enough: return .enough
        case .pause:
            // The load pauses because of the buffer. What the task's queue demands does not matter.
            _ = task.enqueue(data)
            return .pause
        case .more: return task.enqueue(data)
        }
    }

    func deliver(_ data: Data, _ context: CallbackContext) { buffer.put(data) }

    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        buffer.end(error)
        return error
    }

    // MARK: called by the stream's driver

    func post(_ job: @escaping @Sendable () -> Void) { stream?.post(job) }

    /// Does nothing: the load has counted the bytes.
    func streamTransferred(received: Int, sent: Int) {}

    func streamClosed(_ half: StreamMachine.Half) {
        task?.call { context in
            guard half == .reading, let task = context.task as? URLSessionStreamTask else { return }
            context.delegates.stream?.urlSession(context.session, readClosedFor: task)
        }
    }

    func streamCaptured(_ streams: CapturedStreams) {
        if let task { streams.passToDelegate(of: task) }
        // Later operations of the stream task fail: only the captured streams can read the content now.
        stream?.end(StreamFault.closed.error)
    }

    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool) {
        // Without a fault, later operations fail with `closed`. If all data was read, reads report the end instead.
        stream?.end((fault ?? .closed).error, isReadToEnd: isReadToEnd)
        switch fault {
        case nil, .taskEnded?: break
        case .timedOut?, .closed?, .readOnly?, .cannotSecure?, .connectionFailed?:
            // The task must fail before the buffer is closed, which ends the load without an error.
            if let error = fault?.error as? URLError { task?.fail(error) }
        }
        buffer.close()
    }

    var retainedByCapturedStreams: (any Sendable)? { nil }

    func error(for fault: StreamFault) -> any Error { fault.error }
}
