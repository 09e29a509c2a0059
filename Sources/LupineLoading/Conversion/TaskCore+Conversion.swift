// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The conversion of a data task into another kind of task, if the delegate has asked for it when it got the response (U-7.15,
/// section 7.4).
///
/// The new task object has the same core, so that identifier, state and the load itself are the data task's. Content still goes
/// through the delivery: it may arrive before the delegate has answered.
extension TaskCore {
    /// Carries out the delegate's decision about the response.
    func follow(_ disposition: URLSession.ResponseDisposition, about response: URLResponse) {
        switch disposition {
        case .allow: break
        case .cancel: cancel()
        case .becomeDownload: becomeDownload(response)
        case .becomeStream: becomeStream(response)
        }
    }

    /// Continues as a download.
    func becomeDownload(_ response: URLResponse) {
        guard let settings = state.withLock({ $0.session })?.core.context.settings else { return cancel() }
        let download = DownloadSink.takingOver(self, response, in: settings.temporaryDirectory)
        let goesOn = convert(to: ConvertedSink(download), as: URLSessionDownloadTask(self)) {
            context, dataTask, downloadTask in
            context.delegates.data?.urlSession(context.session, dataTask: dataTask, didBecome: downloadTask)
        }
        if !goesOn { download.discard() }
    }

    /// Continues as a stream whose reads return the content.
    func becomeStream(_ response: URLResponse) {
        guard let loop = state.withLock({ $0.session })?.core.context.engine.anyLoop else { return cancel() }
        let stream = StreamCore()
        stream.attach { [weak self] job in self?.certainly(job) }
        let sink = ContentStreamSink(self, stream)
        let goesOn = convert(to: sink, as: URLSessionStreamTask(self, stream)) {
            context, dataTask, streamTask in
            context.delegates.data?.urlSession(context.session, dataTask: dataTask, didBecome: streamTask)
        }
        if goesOn { sink.begin(on: loop) }
    }

    /// - Returns: Whether the task was converted. A task that was cancelled meanwhile, or has ended, is not.
    private func convert<PublicTask: URLSessionTask>(
        to sink: any TaskSink, as newPublicTask: PublicTask,
        _ tell: @escaping @Sendable (CallbackContext, URLSessionDataTask, PublicTask) -> Void
    ) -> Bool {
        let (goesOn, _) = state.withLock { state -> (Bool, (any TaskSink)?) in
            guard state.delivery.mayChangeSink, let dataTask = state.publicTask as? URLSessionDataTask else {
                return (false, nil)
            }
            let old = state.sink
            state.publicTask = newPublicTask
            state.sink = sink
            state.delivery.insert(.call { context in tell(context, dataTask, newPublicTask) })
            return (true, old)
        }
        return goesOn
    }
}

/// Passes content on in its turn on the delegate queue, behind what was queued before the conversion.
private final class ConvertedSink: TaskSink {
    private let sink: any TaskSink

    init(_ sink: any TaskSink) { self.sink = sink }

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .deliver }
    func received(_ task: TaskCore, _ data: Data) -> Demand { task.queue(data) }
    func delivers(_ data: Data, _ context: CallbackContext) { _ = sink.received(context.task.core, data) }
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? { sink.ended(task, error) }
    func errorOfCancelled(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)? {
        sink.errorOfCancelled(error, cancellation)
    }
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void) {
        sink.askForResumeData(task, handler)
    }
    func completed(_ context: CallbackContext, _ error: (any Error)?) { sink.completed(context, error) }
}
