// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The methods of delegates that have two forms: with a completion handler, and asynchronous. A class implements either.
///
/// The loading system calls the form with the handler. A class that has none of its own comes to the default, which calls the
/// asynchronous form; if that is the default too, the class has neither. Swift does not tell the one from the other, so the
/// asynchronous default notes that it was called: from then on its class is not asked again. Any thread.
enum AsyncForm: Hashable, Sendable {
    case sessionChallenge, taskChallenge, delayedRequest, redirect, bodyStream, bodyStreamFromOffset,
        response, caching

    private struct Lack: Hashable, Sendable {
        let type: ObjectIdentifier
        let form: AsyncForm
    }

    private static let lacks = Lock<Set<Lack>>([])

    /// The asynchronous default was called for an object of that class.
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

    /// Whom a question about a connection is asked for: the method for sessions is not told.
    @TaskLocal static var asker: TaskCore?
}

extension URLSession {
    /// Has a delegate answer by the asynchronous form of a method, on no queue of ours. When the task is cancelled, so is the Swift
    /// task that this runs in.
    ///
    /// - Parameters:
    ///   - task: Whom the question is asked for.
    ///   - question: Calls the form.
    ///   - taken: Takes the answer, on any thread.
    package func ask<Answer: Sendable>(
        for task: URLSessionTask?, _ question: @escaping @Sendable () async -> Answer,
        taken: @escaping @Sendable (Answer) -> Void
    ) {
        let core = task?.core ?? AsyncForm.asker
        let form = Task {
            assertNoLockIsHeld()
            assertNotOnLoop()
            taken(await question())
        }
        core?.waits(for: form)
    }

    /// The same for a class that may have no such form: then `lacking` does what the default is to do, on the delegate queue.
    func ask<Answer: Sendable>(
        _ form: AsyncForm, of type: any Any.Type, for task: URLSessionTask?,
        _ question: @escaping @Sendable () async -> Answer,
        taken: @escaping @Sendable (Answer) -> Void, lacking: @escaping @Sendable () -> Void
    ) {
        if form.isMissing(in: type) { return lacking() }
        ask(for: task, question) { [core] answer in
            if form.isMissing(in: type) { core.queue.add(lacking) } else { taken(answer) }
        }
    }

    /// Asks on the delegate queue with a completion handler, and waits for the answer, or until the Swift task is cancelled.
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

/// An answer that a Swift task waits for: the first counts. It goes from thread to thread under a lock of ours.
private final class AwaitedReply<Answer: Sendable>: Sendable {
    private struct State: Sendable {
        var answer: Answer?
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    var answer: Answer? { state.withLock { $0.answer } }

    /// Goes on there when there is an answer. False when there is one already.
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
    /// A delegate answers a question of the task's in that Swift task, which is cancelled with this one.
    func waits(for form: Task<Void, Never>) {
        let isAsking = state.withLock { state in
            if state.delivery.isAsking { state.forms.append(form) }
            return state.delivery.isAsking
        }
        // The task was cancelled before this was known. Where it was not, somebody else asks the delegate.
        if !isAsking, taskState == .canceling || taskState == .completed { form.cancel() }
    }

    /// Nobody waits for the answers any more.
    func giveUp(_ abandoned: [any TaskQuestion]) {
        for question in abandoned { question.abandon() }
        let forms = state.withLock { state in
            defer { state.forms = [] }
            return state.forms
        }
        // What a program does about a cancellation is done at once, on the thread that cancels: not on the loop that this may be.
        if !forms.isEmpty { Task { for form in forms { form.cancel() } } }
    }
}
