// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink of a download task, which receives its response and content (U-7.9 to U-7.13). It stores the content in a temporary
/// file and passes the file to the delegate or the completion handler. Afterwards it removes the file, unless the program has
/// moved it.
final class DownloadSink: TaskSink {
    /// A completion handler: receives the URL of the file, the response and the error.
    typealias Handler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    private struct State: Sendable {
        /// The complete file, while this sink owns it.
        var file: DownloadFile?
        /// Decides when written bytes are reported to the delegate.
        var writeProgress = WriteProgress()
        /// The handlers to call with resume data, or nil, when the task ends.
        var resumeDataHandlers: [@Sendable (Data?) -> Void] = []
        var hasEnded = false
        /// The completion handler; cleared when it is called, because the task may be released on another thread.
        var handler: Handler?
    }

    private let store: DownloadStore
    private let decodesContent: Bool
    /// Whether a completion handler is called instead of the delegate.
    private let hasHandler: Bool
    private let clock = SessionClock.system
    private let state: Lock<State>

    /// - Parameters:
    ///   - store: Stores the content.
    ///   - decodesContent: Whether the session decodes content codings.
    ///   - handler: Called at the end instead of the delegate; nil if there is no completion handler.
    init(_ store: DownloadStore, decodesContent: Bool, _ handler: Handler?) {
        self.store = store
        self.decodesContent = decodesContent
        hasHandler = handler != nil
        state = Lock(State(handler: handler))
    }

    /// Creates the sink of a data task that becomes a download. The task passes all content to `receivedContent`.
    static func replacingDataTask(_ task: TaskCore, _ response: URLResponse, in folder: URL) -> DownloadSink {
        // Uses the original request, without this session's fields and cookies, because any session may resume the download.
        // A data task has an original request. The file URL is a placeholder, with which a download cannot be resumed.
        let request = task.originalRequest ?? URLRequest(url: URL(fileURLWithPath: "/"))
        // The content may be decoded. Then the download cannot be resumed. The last argument is nil, because a converted task has
        // no completion handler.
        let sink = DownloadSink(DownloadStore(request, folder: folder), decodesContent: true, nil)
        // The result, a plan for the driver, is ignored: the task receives the content.
        _ = sink.receivedResponse(task, response)
        return sink
    }

    // MARK: content

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        switch store.plan(for: response, isDecoded: isDecoded(response)) {
        case .store(let target, let resumed):
            // Nil means a new file, of which nothing is reported.
            if let resumed { reportResumed(task, at: resumed.offset, of: resumed.total) }
            return .splice(into: target)
        case .complete(let count):
            // No bytes are missing, so the content of this response is skipped.
            reportResumed(task, at: count, of: count)
            return .skip
        case .fail(let code, let reason, let cause):
            fail(task, code, cause: cause, reason: reason)
            return .skip
        }
    }

    /// Reports to the delegate that the download was resumed after `offset` bytes.
    private func reportResumed(_ task: TaskCore, at offset: Int64, of total: Int64) {
        call(task) { delegate, session, downloadTask in
            delegate.urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: offset, expectedTotalBytes: total)
        }
    }

    /// Whether the session decodes the content of the response.
    private func isDecoded(_ response: URLResponse) -> Bool {
        guard decodesContent, store.mayDecode, let response = response as? HTTPURLResponse,
            let coding = response.value(forHTTPHeaderField: "Content-Encoding")
        else { return false }
        return coding.lowercased() != "identity"
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand {
        do throws(TransportError) {
            try store.write(data)
        } catch {
            fail(task, .cannotWriteToFile, cause: nil, reason: "\(error)")
            return .enough
        }
        // Counts and reports the bytes as if the kernel had written them.
        return spliced(task, data.count)
    }

    func spliced(_ task: TaskCore, _ count: Int) -> Demand {
        if let fault = store.countWritten(count) {
            fail(task, .badServerResponse, cause: nil, reason: fault)
            return .enough
        }
        guard !hasHandler, task.hasDelegate else { return .more }
        switch state.withLock({ $0.writeProgress.countWritten(count, at: clock.now()) }) {
        case .wait: break
        case .reportNow: reportWritten(task)
        case .report(let delay):
            // The alarm is never cancelled: a report without new bytes does nothing.
            _ = clock.alarm(clock.now() + delay) { self.reportWritten(task) }
        }
        return .more
    }

    /// Queues a report of all bytes that were written since the last report, for the delegate (U-7.10).
    private func reportWritten(_ task: TaskCore) { call(task) { self.callDidWriteData(of: $0, $1, $2) } }

    /// Reports the unreported bytes, if there are any. Runs on the delegate queue.
    private func callDidWriteData(
        of delegate: any URLSessionDownloadDelegate, _ session: URLSession, _ task: URLSessionDownloadTask
    ) {
        guard let newCount = state.withLock({ $0.writeProgress.removeUnreported(at: clock.now()) }) else {
            return
        }
        let count = store.count
        delegate.urlSession(
            session, downloadTask: task, didWriteData: newCount, totalBytesWritten: count.written,
            totalBytesExpectedToWrite: count.expected)
    }

    // MARK: the end

    /// Cancels the task for `cancel(byProducingResumeData:)`. `handler` is called once, before the task completes, with resume
    /// data or nil.
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.resumeDataHandlers.append(handler) }
            return state.hasEnded
        }
        // An ordinary call of the delegate queue would not be made after the task has completed.
        if hasEnded { return task.callUnconditionally { handler(nil) } }
        task.cancel()
    }

    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        let (resumeDataHandlers, hasUnreported) = state.withLock { state in
            state.hasEnded = true
            defer { state.resumeDataHandlers = [] }
            return (state.resumeDataHandlers, !state.writeProgress.isEmpty)
        }
        if hasUnreported { reportWritten(task) }
        guard let error else {
            for handler in resumeDataHandlers { handler(nil) }
            // The result is nil if the file is complete.
            return finish(task)
        }
        let urlError = error as? URLError
        // Without a request for resume data, the part is removed if the task was cancelled or the part could not be written. It
        // is also removed if the error is no `URLError`, which would contain the resume data: the program could not refer to the
        // part.
        let removesPart = urlError.map { [.cancelled, .cannotWriteToFile].contains($0.code) } ?? true
        let data = store.stop(keepsPart: !removesPart || !resumeDataHandlers.isEmpty)
        for handler in resumeDataHandlers { handler(data) }
        // An error that is not a `URLError` comes from the program, and is not changed (U-16.4).
        guard let data, let urlError else { return error }
        return URLError(
            urlError.code,
            userInfo: urlError.errorUserInfo.merging([NSURLSessionDownloadTaskResumeData: data]) { $1 })
    }

    /// Removes the written part. Called if the task was not converted to a download.
    func discard() {
        // Without a part, the result, which is the resume data, is nil.
        _ = store.stop(keepsPart: false)
    }

    /// Completes the file and passes it to the delegate. Returns an error if the file cannot be completed.
    private func finish(_ task: TaskCore) -> (any Error)? {
        switch store.finish() {
        case .failure(let failure):
            return URLError.loading(
                failure.code, url: task.currentRequest?.url,
                reason: failure.reason ?? "the download's file: "
                    + (failure.cause.map { "\($0)" } ?? "it is gone"),
                underlying: failure.cause.map { NSError(domain: NSPOSIXErrorDomain, code: Int($0.rawValue)) })
        case .success(let file):
            state.withLock { $0.file = file }
            if !hasHandler {
                call(task) { delegate, session, downloadTask in
                    delegate.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: file.url)
                    // The delegate has moved the file during the call, if the program needs it.
                    self.removeFile()
                }
            }
            return nil
        }
    }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        if let handler = state.withLock({ $0.handler.take() }) {
            let file = error == nil ? state.withLock { $0.file } : nil
            handler(file?.url, context.task.response, error)
        } else {
            context.delegates.task?.urlSession(
                context.session, task: context.task, didCompleteWithError: error)
        }
        removeFile()
        // A task of an invalidated session completes without a call of `ended`.
        let resumeDataHandlers = state.withLock { state in
            state.hasEnded = true
            defer { state.resumeDataHandlers = [] }
            return state.resumeDataHandlers
        }
        for handler in resumeDataHandlers { handler(nil) }
    }

    /// Removes the complete file, unless the program has moved it.
    private func removeFile() {
        let file = state.withLock { $0.file.take() }
        file?.remove()
    }

    /// Calls the download delegate on the delegate queue, if there is one.
    private func call(
        _ task: TaskCore,
        _ body:
            @escaping @Sendable (any URLSessionDownloadDelegate, URLSession, URLSessionDownloadTask) -> Void
    ) {
        task.call { context in
            guard let delegate = context.delegates.download,
                let task = context.task as? URLSessionDownloadTask
            else {
                return
            }
            body(delegate, context.session, task)
        }
    }

    /// Fails the task with a `URLError`. `cause` is the system error; nil if there is none.
    private func fail(_ task: TaskCore, _ code: URLError.Code, cause: Errno?, reason: String) {
        let underlying = cause.map { NSError(domain: NSPOSIXErrorDomain, code: Int($0.rawValue)) }
        task.fail(.loading(code, url: task.currentRequest?.url, reason: reason, underlying: underlying))
    }
}
