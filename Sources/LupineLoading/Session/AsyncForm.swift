// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The delegate methods that have two forms: with a completion handler, and asynchronous. A class implements either.
///
/// The loading system calls the form with the handler. If the class does not implement it, the default implementation runs and
/// calls the asynchronous form; if that is the default too, the class implements neither. Swift cannot tell an implementation
/// from a default, so the asynchronous default records that it was called (`recordMissing(in:)`), and the asynchronous form is
/// not called again for objects of that class. May be used on any thread.
enum AsyncForm: Hashable, Sendable {
    case sessionChallenge, taskChallenge, delayedRequest, redirect, bodyStream, bodyStreamFromOffset,
        response, caching

    private struct MissingForm: Hashable, Sendable {
        let type: ObjectIdentifier
        let form: AsyncForm
    }

    private static let missingForms = Lock<Set<MissingForm>>([])

    /// Records that the default of the asynchronous form was called for an object of this class.
    func recordMissing(in type: any Any.Type) {
        let form = MissingForm(type: ObjectIdentifier(type), form: self)
        Self.missingForms.withLock { missing in
            if !missing.contains(form) { missing.insert(form) }
        }
    }

    /// Whether the class is known not to implement the asynchronous form.
    func isMissing(in type: any Any.Type) -> Bool {
        let form = MissingForm(type: ObjectIdentifier(type), form: self)
        return Self.missingForms.withLock { $0.contains(form) }
    }

    /// The task whose connection was challenged, while the session-level method is called, which does not get the task as an
    /// argument.
    @TaskLocal static var challengedTask: TaskCore?
}

extension URLSession {
    /// Calls the asynchronous form of a delegate method, in a new Swift task. Cancelling the `URLSessionTask` cancels the Swift
    /// task.
    ///
    /// - Parameters:
    ///   - task: The task that the call is about; nil for a call about a connection.
    ///   - method: Calls the asynchronous form.
    ///   - completion: Receives the answer, on any thread.
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

    /// Calls the asynchronous form of a delegate method if the class may implement it, as `callAsyncForm` does. If the class
    /// turns out not to implement it, its answer is dropped.
    ///
    /// - Parameters:
    ///   - form: The delegate method.
    ///   - type: The class of the delegate.
    ///   - task: The task that the call is about; nil for a call about a connection.
    ///   - method: Calls the asynchronous form.
    ///   - completion: Receives the answer of an implementation, on any thread.
    ///   - missing: Called on the delegate queue if the class does not implement the asynchronous form.
    func callAsyncFormIfImplemented<Answer: Sendable>(
        _ form: AsyncForm, of type: any Any.Type, for task: URLSessionTask?,
        _ method: @escaping @Sendable () async -> Answer,
        completion: @escaping @Sendable (Answer) -> Void, ifMissing missing: @escaping @Sendable () -> Void
    ) {
        if form.isMissing(in: type) { return missing() }
        callAsyncForm(for: task, method) { [core] answer in
            if form.isMissing(in: type) { core.queue.add(missing) } else { completion(answer) }
        }
    }

    /// Calls a delegate method that has a completion handler on the delegate queue, and waits until the handler is called or the
    /// Swift task is cancelled.
    ///
    /// - Parameters:
    ///   - fallback: Returned if the Swift task is cancelled before the handler is called.
    ///   - method: Calls the method with this completion handler.
    package func awaitAnswer<Answer: Sendable>(
        orWhenCancelled fallback: Answer,
        _ method: @escaping @Sendable (@escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        let reply = AwaitedReply<Answer>()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if reply.resumeLater(continuation) { core.queue.add { method { reply.set($0) } } }
            }
        } onCancel: {
            reply.set(fallback)
        }
        return reply.answer ?? fallback
    }
}

/// An answer that a Swift task waits for. Only the first one is stored.
private final class AwaitedReply<Answer: Sendable>: Sendable {
    private struct State: Sendable {
        var answer: Answer?
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    var answer: Answer? { state.withLock { $0.answer } }

    /// Resumes `continuation` when the answer is set; at once if it is set already.
    ///
    /// - Returns: Whether the continuation waits for the answer.
    func resumeLater(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        let isWaiting = state.withLock { state in
            if state.answer == nil { state.waiting = continuation }
            return state.answer == nil
        }
        if !isWaiting { continuation.resume() }
        return isWaiting
    }

    func set(_ answer: Answer) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.answer == nil { state.answer = answer }
            return state.waiting.take()
        }
        waiting?.resume()
    }
}

extension TaskCore {
    /// Records the Swift task in which the delegate answers this task's question, so that it is cancelled together with this
    /// task.
    func recordAsyncForm(_ swiftTask: Task<Void, Never>) {
        let isAsking = state.withLock { state in
            if state.delivery.isAsking { state.asyncAnswerTasks.append(swiftTask) }
            return state.delivery.isAsking
        }
        // If no question is open, either this task was cancelled in the meantime, or other code than this task has called the
        // delegate; then the Swift task does not depend on this task.
        if !isAsking, taskState == .canceling || taskState == .completed { swiftTask.cancel() }
    }

    /// Abandons questions whose answers are not awaited any more.
    func abandon(_ questions: [any TaskQuestion]) {
        for question in questions { question.abandon() }
        let forms = state.withLock { state in
            defer { state.asyncAnswerTasks = [] }
            return state.asyncAnswerTasks
        }
        // A program's cancellation handlers run at once on the thread that cancels, which must not be a loop.
        if !forms.isEmpty { Task { for form in forms { form.cancel() } } }
    }
}
