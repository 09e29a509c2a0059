// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink of a download task: stores the content in a temporary file and passes the file to the delegate or the completion
/// handler. Afterwards removes the file, unless the program has moved it (U-7.9 to U-7.13).
final class DownloadSink: TaskSink {
    typealias Handler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    private struct State: Sendable {
        /// The complete file, while this sink owns it.
        var file: DownloadFile?
        /// The written bytes that were not reported to the delegate yet.
        var unreported = WriteProgress()
        /// The handlers to call with resume data when the task ends.
        var resumeDataHandlers: [@Sendable (Data?) -> Void] = []
        var hasEnded = false
        /// The completion handler; cleared when it is called, because the task may be released on another thread.
        var handler: Handler?
    }

    private let store: DownloadStore
    private let decodes: Bool
    /// Whether there is a completion handler.
    private let hasHandler: Bool
    private let clock = SessionClock.system
    private let state: Lock<State>

    /// - Parameters:
    ///   - store: Stores the content.
    ///   - decodes: Whether the session decodes content codings.
    ///   - handler: Called at the end instead of the delegate; nil if there is no completion handler.
    init(_ store: DownloadStore, decodes: Bool, _ handler: Handler?) {
        self.store = store
        self.decodes = decodes
        hasHandler = handler != nil
        state = Lock(State(handler: handler))
    }

    /// Creates the sink of a data task that becomes a download. The task passes all content to `received`.
    static func replacingDataTask(_ task: TaskCore, _ response: URLResponse, in folder: URL) -> DownloadSink {
        // The request without this session's fields and cookies, because any session may resume the download.
        let request = task.originalRequest ?? URLRequest(url: URL(fileURLWithPath: "/"))
        // The content may be decoded: it then leaves no resume data.
        let sink = DownloadSink(DownloadStore(request, folder: folder), decodes: true, nil)
        _ = sink.receivedResponse(task, response)
        return sink
    }

    // MARK: content

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        switch store.response(response, isDecoded: isDecoded(response)) {
        case .store(let target, let resumed):
            if let resumed { reportResumed(task, at: resumed.offset, of: resumed.total) }
            return .splice(into: target)
        case .complete(let count):
            reportResumed(task, at: count, of: count)
            return .skip
        case .fail(let code, let reason, let cause):
            fail(task, code, cause, reason)
            return .skip
        }
    }

    private func reportResumed(_ task: TaskCore, at offset: Int64, of total: Int64) {
        call(task) { delegate, session, downloadTask in
            delegate.urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: offset, expectedTotalBytes: total)
        }
    }

    /// Whether the session decodes the content of the response.
    private func isDecoded(_ response: URLResponse) -> Bool {
        guard decodes, store.mayDecode, let response = response as? HTTPURLResponse,
            let coding = response.value(forHTTPHeaderField: "Content-Encoding")
        else { return false }
        return coding.lowercased() != "identity"
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand {
        do throws(TransportError) {
            try store.write(data)
        } catch {
            fail(task, .cannotWriteToFile, nil, "\(error)")
            return .enough
        }
        return spliced(task, data.count)
    }

    func spliced(_ task: TaskCore, _ count: Int) -> Demand {
        if let fault = store.wrote(count) {
            fail(task, .badServerResponse, nil, fault)
            return .enough
        }
        guard !hasHandler, task.hasDelegate else { return .more }
        switch state.withLock({ $0.unreported.wrote(count, at: clock.now()) }) {
        case .wait: break
        case .reportNow: reportWritten(task)
        case .report(let delay):
            // Never cancelled: a report without new bytes does nothing.
            _ = clock.alarm(clock.now() + delay) { self.reportWritten(task) }
        }
        return .more
    }

    /// Reports all bytes written since the last report to the delegate, on the delegate queue (U-7.10).
    private func reportWritten(_ task: TaskCore) { call(task) { self.callDidWriteData(of: $0, $1, $2) } }

    /// Reports the unreported bytes, if there are any. Runs on the delegate queue.
    private func callDidWriteData(
        of delegate: any URLSessionDownloadDelegate, _ session: URLSession, _ task: URLSessionDownloadTask
    ) {
        guard let new = state.withLock({ $0.unreported.take(at: clock.now()) }) else { return }
        let count = store.count
        delegate.urlSession(
            session, downloadTask: task, didWriteData: new, totalBytesWritten: count.written,
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
        if hasEnded { return task.callUnconditionally { handler(nil) } }
        task.cancel()
    }

    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        let (resumeDataHandlers, hasUnreported) = state.withLock { state in
            state.hasEnded = true
            defer { state.resumeDataHandlers = [] }
            return (state.resumeDataHandlers, !state.unreported.isEmpty)
        }
        if hasUnreported { reportWritten(task) }
        guard let error else {
            for handler in resumeDataHandlers { handler(nil) }
            return finish(task)
        }
        let loading = error as? URLError
        // Unless resume data was requested, the part is removed if the task was cancelled, if the part could not be written, or
        // if the error cannot carry resume data, because the program could not refer to the part then.
        let removesPart = loading.map { [.cancelled, .cannotWriteToFile].contains($0.code) } ?? true
        let data = store.stop(keepsPart: !removesPart || !resumeDataHandlers.isEmpty)
        for handler in resumeDataHandlers { handler(data) }
        // An error of the program is not changed (U-16.4).
        guard let data, let loading else { return error }
        return URLError(
            loading.code,
            userInfo: loading.errorUserInfo.merging([NSURLSessionDownloadTaskResumeData: data]) { $1 })
    }

    /// Removes the written part, for which resume data can no longer be requested.
    func discard() { _ = store.stop(keepsPart: false) }

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

    private func fail(_ task: TaskCore, _ code: URLError.Code, _ cause: Errno?, _ reason: String) {
        let underlying = cause.map { NSError(domain: NSPOSIXErrorDomain, code: Int($0.rawValue)) }
        task.fail(.loading(code, url: task.currentRequest?.url, reason: reason, underlying: underlying))
    }
}
