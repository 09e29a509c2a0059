// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The delegate methods that have two forms: one with a completion handler, and an `async` one. A class implements one of them.
///
/// The loading system calls the form with the handler. If the class does not implement it, its default implementation runs and
/// calls the `async` form. If the class does not implement that either, the default of the `async` form runs. Swift code cannot
/// find out whether a class implements a method or inherits the default. So the default of the `async` form records its call
/// (`recordMissing(in:)`), and the `async` form is not called again for objects of that class. May be used on any thread.
enum AsyncForm: Hashable, Sendable {
    /// `urlSession(_:didReceive:completionHandler:)`
    case sessionChallenge
    /// `urlSession(_:task:didReceive:completionHandler:)`
    case taskChallenge
    /// `urlSession(_:task:willBeginDelayedRequest:completionHandler:)`
    case delayedRequest
    /// `urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`
    case redirect
    /// `urlSession(_:task:needNewBodyStream:)`
    case bodyStream
    /// `urlSession(_:task:needNewBodyStreamFrom:completionHandler:)`
    case bodyStreamFromOffset
    /// `urlSession(_:dataTask:didReceive:completionHandler:)`
    case response
    /// `urlSession(_:dataTask:willCacheResponse:completionHandler:)`
    case caching

    /// An `async` form that a class does not implement.
    private struct MissingForm: Hashable, Sendable {
        let type: ObjectIdentifier
        let form: AsyncForm
    }

    private static let missingForms = Lock<Set<MissingForm>>([])

    /// Records that this class does not implement the `async` form. The default implementation of the form calls this.
    func recordMissing(in type: any Any.Type) {
        let form = MissingForm(type: ObjectIdentifier(type), form: self)
        Self.missingForms.withLock { missing in
            if !missing.contains(form) { missing.insert(form) }
        }
    }

    /// Returns whether the class is known not to implement the `async` form.
    func isMissing(in type: any Any.Type) -> Bool {
        let form = MissingForm(type: ObjectIdentifier(type), form: self)
        return Self.missingForms.withLock { $0.contains(form) }
    }

    /// The task whose connection was challenged. Set while the delegate's method for sessions is called, because that method does
    /// not receive the task as an argument.
    @TaskLocal static var challengedTask: TaskCore?
}

extension URLSession {
    /// Calls the `async` form of a delegate method, in a new Swift task. Cancelling the `URLSessionTask` cancels the Swift task.
    ///
    /// - Parameters:
    ///   - task: The task that the call is about; nil for a call about a connection.
    ///   - method: Calls the `async` form and returns its answer.
    ///   - completion: Called with the answer, on any thread.
    package func callAsyncForm<Answer: Sendable>(
        for task: URLSessionTask?, _ method: @escaping @Sendable () async -> Answer,
        completion: @escaping @Sendable (Answer) -> Void
    ) {
        let core = task?.core ?? AsyncForm.challengedTask
        let swiftTask = Task {
            assertNoLockIsHeld()
            assertNotOnLoop()
            completion(await method())
        }
        core?.recordAsyncForm(swiftTask)
    }

    /// Calls the `async` form of a delegate method, as `callAsyncForm` does, unless the class is known not to implement it. If
    /// the call reaches the default implementation, its answer is ignored, and `missing` is called instead of `completion`.
    ///
    /// - Parameters:
    ///   - form: The delegate method.
    ///   - type: The class of the delegate.
    ///   - task: The task that the call is about; nil for a call about a connection.
    ///   - method: Calls the `async` form and returns its answer.
    ///   - completion: Called with the answer of the class's implementation, on any thread.
    ///   - missing: Called on the delegate queue if the class does not implement the `async` form.
    func callAsyncFormIfImplemented<Answer: Sendable>(
        _ form: AsyncForm, of type: any Any.Type, for task: URLSessionTask?,
        _ method: @escaping @Sendable () async -> Answer,
        completion: @escaping @Sendable (Answer) -> Void, ifMissing missing: @escaping @Sendable () -> Void
    ) {
        if form.isMissing(in: type) { return missing() }
        callAsyncForm(for: task, method) { [core] answer in
            // Now true if the call above has reached the default implementation.
            if form.isMissing(in: type) { core.queue.add(missing) } else { completion(answer) }
        }
    }

    /// Calls a delegate method that has a completion handler, on the delegate queue. Waits until the method calls the handler or
    /// the Swift task is cancelled.
    ///
    /// - Parameters:
    ///   - fallback: The result if the Swift task is cancelled before the handler is called.
    ///   - method: Calls the delegate method with the completion handler that is passed to it.
    /// - Returns: The argument with which the handler was called, or `fallback`.
    package func awaitAnswer<Answer: Sendable>(
        orWhenCancelled fallback: Answer,
        _ method: @escaping @Sendable (_ completionHandler: @escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        let reply = PendingReply<Answer>()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // False if the Swift task was cancelled before, so that the answer is set.
                let mustCallMethod = reply.resumeWhenSet(continuation)
                if mustCallMethod { core.queue.add { method { reply.set($0) } } }
            }
        } onCancel: {
            reply.set(fallback)
        }
        return reply.answer ?? fallback
    }
}

/// An answer for which a Swift task waits. Only the first answer is stored.
private final class PendingReply<Answer: Sendable>: Sendable {
    private struct State: Sendable {
        var answer: Answer?
        /// The continuation of the Swift task, while the task waits.
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    /// The answer; nil until it is set.
    var answer: Answer? { state.withLock { $0.answer } }

    /// Resumes `continuation` when the answer is set; at once if it is set already, which happens if the Swift task was
    /// cancelled.
    ///
    /// - Returns: Whether the continuation waits for the answer.
    func resumeWhenSet(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        let isWaiting = state.withLock { state in
            if state.answer == nil { state.continuation = continuation }
            return state.answer == nil
        }
        if !isWaiting { continuation.resume() }
        return isWaiting
    }

    /// Sets the answer, if none is set, and resumes the Swift task that waits for it.
    func set(_ answer: Answer) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.answer == nil { state.answer = answer }
            return state.continuation.take()
        }
        continuation?.resume()
    }
}

extension TaskCore {
    /// Stores the Swift task in which the delegate answers a question of this task, so that cancelling this task cancels it too.
    func recordAsyncForm(_ swiftTask: Task<Void, Never>) {
        let isAsking = state.withLock { $0.delivery.addAnsweringTask(swiftTask) }
        // There are two reasons why no question is open. This task may have been cancelled since it asked: then the Swift task
        // is cancelled, too. Or code other than this task has called the delegate: then the Swift task continues.
        if !isAsking, taskState == .canceling || taskState == .completed { swiftTask.cancel() }
    }
}
