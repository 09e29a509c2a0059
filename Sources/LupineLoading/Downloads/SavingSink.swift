// SPDX-License-Identifier: MIT

public import Foundation
import LupineTransport

/// The sink of a data task whose content is written to a file. A sink receives the response and the content of a task. The
/// program opens the file when the response has arrived; if it opens none, the delegate receives the content.
///
/// The kernel moves (splices) content from the socket into the file. Content that is decoded, or does not come from the network,
/// is written piece by piece.
final class SavingSink: TaskSink {
    /// Opens the file for a response, at the position where content is to be written; returns nil to let the delegate receive the
    /// content.
    typealias FileOpener = @Sendable (URLResponse) -> FileHandle?

    private struct State {
        /// The program's closure; cleared at the end, because the task may be released on another thread.
        var fileOpener: FileOpener?
        /// The file; nil if the delegate receives the content.
        var target: FileTarget?
    }

    /// The sink that passes content to the delegate.
    private let delegateSink = DelegateSink.shared
    private let state: Lock<State>

    init(_ open: @escaping FileOpener) { state = Lock(State(fileOpener: open)) }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        // `cancel` is the disposition if the task ends before the program has answered.
        let question = ClosureQuestion(of: task, fallback: URLSession.ResponseDisposition.cancel) {
            context, answer in
            guard let delegate = context.delegates.data, let dataTask = context.task as? URLSessionDataTask
            else {
                // Without a delegate the response is allowed.
                return self.openFile(.allow, task, response, answer)
            }
            delegate.urlSession(context.session, dataTask: dataTask, didReceive: response) { disposition in
                self.openFile(disposition, task, response, answer)
            }
        } completion: { disposition in
            task.carryOut(disposition, on: response)
            task.resumeReading()
        }
        task.ask(question)
        // Content arrives only after the file was opened.
        return .pause
    }

    /// Opens the file if the disposition is `allow`, then passes the disposition to `answer`.
    private func openFile(
        _ disposition: URLSession.ResponseDisposition, _ task: TaskCore, _ response: URLResponse,
        _ answer: (URLSession.ResponseDisposition) -> Void
    ) {
        assertNoLockIsHeld()
        guard case .allow = disposition, let handle = state.withLock({ $0.fileOpener })?(response) else {
            return answer(disposition)
        }
        do throws(Errno) {
            let target = FileTarget(try Descriptor.sharing(handle.fileDescriptor))
            state.withLock { $0.target = target }
            task.save(into: target)
        } catch {
            task.fail(.loading(.cannotOpenFile, url: task.currentRequest?.url, underlying: error))
        }
        answer(disposition)
    }

    /// Only the delegate has to get each chunk of a chunked body as a separate piece.
    var wantsSeparateChunks: Bool { state.withLock { $0.target == nil } }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand {
        guard let target = state.withLock({ $0.target }) else {
            return delegateSink.receivedContent(task, data)
        }
        do throws(TransportError) { try target.write(data.span) } catch {
            task.fail(.loading(.cannotWriteToFile, url: task.currentRequest?.url, underlying: error))
            return .enough
        }
        return .more
    }

    func deliver(_ data: Data, _ context: CallbackContext) { delegateSink.deliver(data, context) }

    func willCache(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { delegateSink.willCache(task, proposal, reply: reply) }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        // The locked block returns the closure, so that it is released outside of the lock: releasing it may run the program's
        // code.
        _ = state.withLock { $0.fileOpener.take() }
        delegateSink.completed(context, error)
    }
}

extension URLSession {
    /// Creates a data task whose body is read from a file, or whose content is written to a file, without passing it to the
    /// program piece by piece.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - file: The file to send as the body instead of the request's body. It is read from its start again when a challenge or
    ///     a redirect requires that.
    ///   - open: Opens the file for a response, on the thread on which the delegate has allowed the response. It has to be a
    ///     regular file, open for writing and not for appending, at the position where content is to be written. The program
    ///     closes the file when the task has completed. With nil the content goes to the delegate.
    ///
    /// `countOfBytesReceived` shows the progress. If the content is saved, the delegate receives the response, the metrics and
    /// the completion, and the response is not cached.
    public func dataTask(
        with request: URLRequest, sending file: URL? = nil,
        savingInto open: @escaping @Sendable (URLResponse) -> FileHandle? = { _ in nil }
    ) -> URLSessionDataTask {
        // A data task with a file as its body is loaded like an upload task.
        let body = file.map { TaskDefinition.Body.file($0) } ?? .request
        return makeDataTask(
            TaskDefinition(kind: file == nil ? .data : .upload, request: request, body: body),
            SavingSink(open))
    }
}
