// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Converts a data task into another kind of task, if the delegate answers a response with `becomeDownload` or `becomeStream`
/// (U-7.15; Documentation/Behaviour/06-url-loading.md, section 7.4).
///
/// The new task object has the same core, so that it keeps identifier, state and load. Content may arrive before the delegate has
/// answered, so it still passes through the task's queue (`delivery`).
struct TaskConversion {
    let task: TaskCore
    /// The response that the delegate was asked about.
    let response: URLResponse

    /// Continues the task as a download. Cancels the task if its session is gone.
    func becomeDownload() {
        guard let settings = task.session?.core.context.settings else { return task.cancel() }
        let download = DownloadSink.replacingDataTask(task, response, in: settings.temporaryDirectory)
        let isConverted = convert(to: ConvertedSink(download), as: URLSessionDownloadTask(task)) {
            context, dataTask, downloadTask in
            context.delegates.data?.urlSession(context.session, dataTask: dataTask, didBecome: downloadTask)
        }
        if !isConverted { download.discard() }
    }

    /// Continues the task as a stream whose reads return the content. Cancels the task if its session is gone or has no event
    /// loop.
    func becomeStream() {
        guard let loop = task.session?.core.context.engine.anyLoop else { return task.cancel() }
        let stream = StreamCore()
        stream.setPoster { [weak task] job in task?.callUnconditionally(job) }
        let sink = ContentStreamSink(task, stream)
        let isConverted = convert(to: sink, as: URLSessionStreamTask(task, stream)) {
            context, dataTask, streamTask in
            context.delegates.data?.urlSession(context.session, dataTask: dataTask, didBecome: streamTask)
        }
        if isConverted { sink.begin(on: loop) }
    }

    /// Replaces the task's sink, which receives its response and content, and its public task object. Queues a call of
    /// `informDelegate`.
    ///
    /// - Returns: Whether the task was converted. A task that was cancelled meanwhile, or has ended, is not.
    private func convert<PublicTask: URLSessionTask>(
        to sink: any TaskSink, as newPublicTask: PublicTask,
        _ informDelegate: @escaping @Sendable (CallbackContext, URLSessionDataTask, PublicTask) -> Void
    ) -> Bool {
        // The ignored element, the previous sink, is released outside of the lock.
        let (isConverted, _) = task.state.withLock { state -> (Bool, (any TaskSink)?) in
            guard state.delivery.mayChangeSink, let dataTask = state.publicTask as? URLSessionDataTask else {
                return (false, nil)
            }
            // The inserted call comes before the queued content, which the new sink receives.
            let previousSink = state.sink
            state.publicTask = newPublicTask
            state.sink = sink
            state.delivery.insert(.call { context in informDelegate(context, dataTask, newPublicTask) })
            return (true, previousSink)
        }
        return isConverted
    }
}

extension TaskCore {
    /// Carries out the delegate's decision about the response.
    func carryOut(_ disposition: URLSession.ResponseDisposition, on response: URLResponse) {
        switch disposition {
        case .allow: break
        case .cancel: cancel()
        case .becomeDownload: TaskConversion(task: self, response: response).becomeDownload()
        case .becomeStream: TaskConversion(task: self, response: response).becomeStream()
        }
    }
}

/// Passes content on to another sink through the task's queue, behind the content that was queued before the conversion.
private final class ConvertedSink: TaskSink {
    private let sink: any TaskSink

    init(_ sink: any TaskSink) { self.sink = sink }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .deliver }
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand { task.enqueue(data) }
    func deliver(_ data: Data, _ context: CallbackContext) {
        // The demand is ignored: the task's queue pauses the load, and the sink fails the task if it cannot continue.
        _ = sink.receivedContent(context.task.core, data)
    }
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? { sink.ended(task, error) }
    func errorOfCancelledTask(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)? {
        sink.errorOfCancelledTask(error, cancellation)
    }
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void) {
        sink.askForResumeData(task, handler)
    }
    func completed(_ context: CallbackContext, _ error: (any Error)?) { sink.completed(context, error) }
}
