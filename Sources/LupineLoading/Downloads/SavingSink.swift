// SPDX-License-Identifier: MIT

public import Foundation
import LupineTransport

/// The content of a data task goes into a file that the program opens when it has seen the response; where it opens none,
/// to the delegate, as ever.
///
/// The kernel moves content into the file by itself where nothing has to look at it. What comes through a decoder, or from
/// another place than the network, is written as it comes.
final class SavingSink: TaskSink {
    /// Opens the file for a response, at the position where content is to go; nil where the delegate is to have it.
    typealias Opening = @Sendable (URLResponse) -> FileHandle?

    private struct State {
        /// Goes with the end: the task may be let go of elsewhere.
        var open: Opening?
        var target: FileTarget?
    }

    private let base = DelegateSink.shared
    private let state: Lock<State>

    init(_ open: @escaping Opening) { state = Lock(State(open: open)) }

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        task.ask(fallback: .cancel) { stage, answer in
            guard let delegate = stage.delegates.data, let dataTask = stage.task as? URLSessionDataTask else {
                return self.settle(.allow, task, response, answer)
            }
            delegate.urlSession(stage.session, dataTask: dataTask, didReceive: response) { disposition in
                self.settle(disposition, task, response, answer)
            }
        } taken: { disposition in
            task.follow(disposition, about: response)
            task.resumeReading()
        }
        // Nothing may come before the place for it is known.
        return .pause
    }

    /// Opens the file for content that is wanted, and gives the answer.
    private func settle(
        _ disposition: URLSession.ResponseDisposition, _ task: TaskCore, _ response: URLResponse,
        _ answer: (URLSession.ResponseDisposition) -> Void
    ) {
        assertNoLockIsHeld()
        guard case .allow = disposition, let handle = state.withLock({ $0.open })?(response) else {
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

    var keepsChunks: Bool { state.withLock { $0.target == nil } }

    func received(_ task: TaskCore, _ data: Data) -> Demand {
        guard let target = state.withLock({ $0.target }) else { return base.received(task, data) }
        do throws(TransportError) { try target.write(data.span) } catch {
            task.fail(.loading(.cannotWriteToFile, url: task.currentRequest?.url, underlying: error))
            return .enough
        }
        return .more
    }

    func delivers(_ data: Data, _ stage: TaskStage) { base.delivers(data, stage) }

    func caches(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { base.caches(task, proposal, reply: reply) }

    func completed(_ stage: TaskStage, _ error: (any Error)?) {
        _ = state.withLock { $0.open.take() }
        base.completed(stage, error)
    }
}

extension URLSession {
    /// A data task whose body comes from a file, or whose content goes into one, without being handed over piece by piece.
    ///
    /// - Parameters:
    ///   - request: What to load.
    ///   - file: What is sent as the body, in place of the request's; from its beginning as often as a challenge or a redirect
    ///     asks for it.
    ///   - open: Opens the file for a response that the delegate has allowed, and where it did that: a regular file that is
    ///     open for writing, not for appending, at the position where content is to go. The program closes it when the task
    ///     has completed. With nil the content goes to the delegate.
    ///
    /// `countOfBytesReceived` says how far it is; of what is saved the delegate hears the response, the metrics and the end,
    /// and it is not cached.
    public func dataTask(
        with request: URLRequest, sending file: URL? = nil,
        savingInto open: @escaping @Sendable (URLResponse) -> FileHandle? = { _ in nil }
    ) -> URLSessionDataTask {
        let body = file.map { TaskOrder.Body.file($0) } ?? .request
        return data(
            TaskOrder(kind: file == nil ? .data : .upload, request: request, body: body), SavingSink(open))
    }
}
