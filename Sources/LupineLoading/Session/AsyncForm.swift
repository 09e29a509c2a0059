// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The delegate methods that have two forms: with a completion handler, and asynchronous. A class implements either.
///
/// The loading system calls the form with the handler. If the class does not implement it, its default implementation runs and
/// calls the asynchronous form; if that is the default too, the class implements neither. Swift cannot tell an implementation
/// from a default, so the asynchronous default records that it was called: from then on its class is not asked again. Any
/// thread.
enum AsyncForm: Hashable, Sendable {
    case sessionChallenge, taskChallenge, delayedRequest, redirect, bodyStream, bodyStreamFromOffset,
        response, caching

    private struct Lack: Hashable, Sendable {
        let type: ObjectIdentifier
        let form: AsyncForm
    }

    private static let lacks = Lock<Set<Lack>>([])

    /// Records that the asynchronous default was called for an object of that class.
    func note(lackIn type: any Any.Type) {
        let lack = Lack(type: ObjectIdentifier(type), form: self)
        Self.lacks.withLock { lacks in
            if !lacks.contains(lack) { lacks.insert(lack) }
        }
    }

    /// Whether it is known that the class has no asynchronous form of its own.
    func isMissing(in type: any Any.Type) -> Bool {
        let lack = Lack(type: ObjectIdentifier(type), form: self)
        return Self.lacks.withLock { $0.contains(lack) }
    }

    /// The task that a challenge of a connection belongs to: the session-level method is not given it.
    @TaskLocal static var challenger: TaskCore?
}

extension URLSession {
    /// Calls the asynchronous form of a delegate method, in a new Swift task. Cancelling the `URLSessionTask` cancels the Swift
    /// task.
    ///
    /// - Parameters:
    ///   - task: The task that the call is about.
    ///   - question: Calls the asynchronous form.
    ///   - completion: Receives the answer, on any thread.
    package func callAsyncForm<Answer: Sendable>(
        for task: URLSessionTask?, _ question: @escaping @Sendable () async -> Answer,
        completion: @escaping @Sendable (Answer) -> Void
    ) {
        let core = task?.core ?? AsyncForm.challenger
        let form = Task {
            assertNoLockIsHeld()
            assertNotOnLoop()
            completion(await question())
        }
        core?.waits(for: form)
    }

    /// The same for a class that may lack the asynchronous form: `lacking` then does what the default has to do, on the
    /// delegate queue.
    func ask<Answer: Sendable>(
        _ form: AsyncForm, of type: any Any.Type, for task: URLSessionTask?,
        _ question: @escaping @Sendable () async -> Answer,
        completion: @escaping @Sendable (Answer) -> Void, lacking: @escaping @Sendable () -> Void
    ) {
        if form.isMissing(in: type) { return lacking() }
        callAsyncForm(for: task, question) { [core] answer in
            if form.isMissing(in: type) { core.queue.add(lacking) } else { completion(answer) }
        }
    }

    /// Asks on the delegate queue with a completion handler, and waits for the answer or the cancellation of the Swift task.
    package func answer<Answer: Sendable>(
        orWhenCancelled fallback: Answer,
        _ question: @escaping @Sendable (@escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        let reply = AwaitedReply<Answer>()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if reply.isAwaited(by: continuation) { core.queue.add { question { reply.give($0) } } }
            }
        } onCancel: {
            reply.give(fallback)
        }
        return reply.answer ?? fallback
    }
}

/// An answer that a Swift task waits for; the first one counts. A lock of the library's guards it between threads.
private final class AwaitedReply<Answer: Sendable>: Sendable {
    private struct State: Sendable {
        var answer: Answer?
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    var answer: Answer? { state.withLock { $0.answer } }

    /// Resumes `continuation` when there is an answer. Returns false, and resumes it at once, if there is one already.
    func isAwaited(by continuation: CheckedContinuation<Void, Never>) -> Bool {
        let isThere = state.withLock { state in
            if state.answer == nil { state.waiting = continuation }
            return state.answer != nil
        }
        if isThere { continuation.resume() }
        return !isThere
    }

    func give(_ answer: Answer) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.answer == nil { state.answer = answer }
            return state.waiting.take()
        }
        waiting?.resume()
    }
}

extension TaskCore {
    /// Records the Swift task in which a delegate answers a question of this task's. It is cancelled together with this task.
    func waits(for form: Task<Void, Never>) {
        let isAsking = state.withLock { state in
            if state.delivery.isAsking { state.asyncAnswers.append(form) }
            return state.delivery.isAsking
        }
        // The task may have been cancelled before the Swift task was recorded. Otherwise the delegate was asked by other code
        // than the task, and its answer does not depend on the task.
        if !isAsking, taskState == .canceling || taskState == .completed { form.cancel() }
    }

    /// Abandons questions whose answers are not awaited any more.
    func abandon(_ questions: [any TaskQuestion]) {
        for question in questions { question.abandon() }
        let forms = state.withLock { state in
            defer { state.asyncAnswers = [] }
            return state.asyncAnswers
        }
        // A program's cancellation handlers run at once on the thread that cancels, which must not be a loop.
        if !forms.isEmpty { Task { for form in forms { form.cancel() } } }
    }
}
