// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Stores the content of a download task in a temporary file and passes the file to the delegate or the handler; afterwards the
/// file is removed unless it was moved (U-7.9 to U-7.13).
final class DownloadSink: TaskSink {
    typealias Handler = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

    private struct State: Sendable {
        /// The complete file, while this sink owns it.
        var file: DownloadFile?
        /// The written bytes that the delegate has not been told of.
        var unreported = WriteProgress()
        /// The callers that wait for resume data.
        var resumeDataHandlers: [@Sendable (Data?) -> Void] = []
        var hasEnded = false
        /// Cleared when it is called, because the task may be released on another thread.
        var handler: Handler?
    }

    private let store: DownloadStore
    private let decodes: Bool
    /// Whether there is a completion handler.
    private let isHandled: Bool
    private let clock = SessionClock.system
    private let state: Lock<State>

    /// - Parameters:
    ///   - store: Stores the content.
    ///   - decodes: Whether the session decodes content codings.
    ///   - handler: Called at the end instead of the delegate.
    init(_ store: DownloadStore, decodes: Bool, _ handler: Handler?) {
        self.store = store
        self.decodes = decodes
        isHandled = handler != nil
        state = Lock(State(handler: handler))
    }

    /// Creates the sink of a data task that becomes a download; the content arrives through `received`, in order.
    static func takingOver(_ task: TaskCore, _ response: URLResponse, in folder: URL) -> DownloadSink {
        // The request as the program made it: any session may resume the download, and must not use this session's fields and
        // cookies.
        let request = task.originalRequest ?? URLRequest(url: URL(fileURLWithPath: "/"))
        let sink = DownloadSink(DownloadStore(request, folder: folder), decodes: true, nil)
        _ = sink.responded(task, response)
        return sink
    }

    // MARK: content

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        switch store.response(response, isDecoded: isDecoded(response)) {
        case .store(let target, let resumed):
            if let resumed { tellResumed(task, at: resumed.offset, of: resumed.total) }
            return .splice(into: target)
        case .complete(let count):
            tellResumed(task, at: count, of: count)
            return .skip
        case .fail(let code, let reason, let cause):
            fail(task, code, cause, reason)
            return .skip
        }
    }

    private func tellResumed(_ task: TaskCore, at offset: Int64, of total: Int64) {
        call(task) { delegate, session, downloadTask in
            delegate.urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: offset, expectedTotalBytes: total)
        }
    }

    private func isDecoded(_ response: URLResponse) -> Bool {
        guard decodes, store.mayDecode, let response = response as? HTTPURLResponse,
            let coding = response.value(forHTTPHeaderField: "Content-Encoding")
        else { return false }
        return coding.lowercased() != "identity"
    }

    func received(_ task: TaskCore, _ data: Data) -> Demand {
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
        guard !isHandled, task.hasDelegate else { return .more }
        switch state.withLock({ $0.unreported.wrote(count, at: clock.now()) }) {
        case .wait: break
        case .tellNow: tellWritten(task)
        case .tell(let delay):
            _ = clock.alarm(clock.now() + delay) { self.tellWritten(task) }
        }
        return .more
    }

    /// Reports all bytes written since the last call (U-7.10).
    private func tellWritten(_ task: TaskCore) { call(task) { self.tellWritten($0, $1, $2) } }

    private func tellWritten(
        _ delegate: any URLSessionDownloadDelegate, _ session: URLSession, _ task: URLSessionDownloadTask
    ) {
        guard let new = state.withLock({ $0.unreported.take(at: clock.now()) }) else { return }
        let count = store.count
        delegate.urlSession(
            session, downloadTask: task, didWriteData: new, totalBytesWritten: count.written,
            totalBytesExpectedToWrite: count.expected)
    }

    // MARK: the end

    /// Cancels the task. `handler` is called once, before the task completes, with resume data or nil.
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void) {
        let isLate = state.withLock { state in
            if !state.hasEnded { state.resumeDataHandlers.append(handler) }
            return state.hasEnded
        }
        if isLate { return task.certainly { handler(nil) } }
        task.cancel()
    }

    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        let (resumeDataHandlers, hasUnreported) = state.withLock { state in
            state.hasEnded = true
            defer { state.resumeDataHandlers = [] }
            return (state.resumeDataHandlers, !state.unreported.isEmpty)
        }
        if hasUnreported { tellWritten(task) }
        guard let error else {
            for handler in resumeDataHandlers { handler(nil) }
            return finish(task)
        }
        // A download that was cancelled or could not be written leaves no part behind, unless resume data was requested.
        let loading = error as? URLError
        // The same holds for an error that cannot carry resume data: the part would never be found.
        let isLost = loading.map { [.cancelled, .cannotWriteToFile].contains($0.code) } ?? true
        let data = store.stop(keepsPart: !isLost || !resumeDataHandlers.isEmpty)
        for handler in resumeDataHandlers { handler(data) }
        // The program's own errors are not changed (U-16.4).
        guard let data, let loading else { return error }
        return URLError(
            loading.code,
            userInfo: loading.errorUserInfo.merging([NSURLSessionDownloadTaskResumeData: data]) { $1 })
    }

    /// Removes what was written, when no one will ask for it.
    func discard() { _ = store.stop(keepsPart: false) }

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
            if !isHandled {
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
