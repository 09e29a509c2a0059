// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink of a data task whose response became a stream: the content waits to be read (spec section 7.4), and an unread stream
/// stops the load.
///
/// The task completes when all content has arrived, possibly before it is read. The task retains the sink, so the sink retains
/// neither the task nor the stream.
final class ContentStreamSink: TaskSink, StreamOwner {
    private weak let task: TaskCore?
    private weak let stream: StreamCore?
    private let buffer: ContentBuffer

    init(_ task: TaskCore, _ stream: StreamCore) {
        self.task = task
        self.stream = stream
        buffer = ContentBuffer { [weak task] in task?.resumeReading() }
    }

    /// Starts the stream, on this loop.
    func begin(on loop: EventLoop) {
        let conversation = LoopBound(
            sending: StreamDriver(on: loop, for: self, writeFault: .onlyContent), to: loop)
        _ = loop.execute { [buffer] in conversation.value.open(ContentWire(buffer, on: loop)) }
        stream?.begin(conversation, on: loop)
    }

    // MARK: the load's side

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .deliver }

    /// Data from before the stream's start waits in the task's queue, so this data is queued behind it.
    func received(_ task: TaskCore, _ data: Data) -> Demand {
        switch buffer.demand {
        case .enough: return .enough
        case .pause:
            _ = task.queue(data)
            return .pause
        case .more: return task.queue(data)
        }
    }

    func delivers(_ data: Data, _ context: CallbackContext) { buffer.put(data) }

    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        buffer.end(error)
        return error
    }

    // MARK: the stream's side

    func post(_ job: @escaping @Sendable () -> Void) { stream?.post(job) }

    /// Nothing to do: the load has counted the bytes.
    func streamTransferred(received: Int, sent: Int) {}

    func streamClosed(_ half: StreamMachine.Half) {
        task?.call { context in
            guard half == .reading, let task = context.task as? URLSessionStreamTask else { return }
            context.delegates.stream?.urlSession(context.session, readClosedFor: task)
        }
    }

    func streamCaptured(_ streams: CapturedStreams) {
        if let task { streams.passToDelegate(of: task) }
        stream?.end(StreamFault.closed.error)
    }

    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool) {
        stream?.end((fault ?? .closed).error, isReadToEnd: isReadToEnd)
        switch fault {
        case nil, .ended?: break
        case .timedOut?, .closed?, .onlyContent?, .cannotSecure?, .lost?:
            // Before closing the buffer: closing would end the load without an error.
            if let error = (fault ?? .closed).error as? URLError { task?.fail(error) }
        }
        buffer.close()
    }

    var streamKeeper: (any Sendable)? { nil }

    func error(for fault: StreamFault) -> any Error { fault.error }
}
