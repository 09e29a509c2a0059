// SPDX-License-Identifier: MIT

import LupineTLS

/// A TLS configuration and its context, which is made for the first connection. The roots are read for the first connection whose
/// peer is evaluated with them.
///
/// Loading reads files, so it happens on a worker, once for all waiting callers. A failure is not stored: the next caller tries
/// again, because a missing file may exist by then. Profiles with the same configuration share it. Any thread may call.
package final class TLSSettings: Sendable {
    let configuration: TLSConfiguration
    private let state = Lock(State.new)

    typealias Answer = Result<TLSClientContext, TLSError>

    private struct Waiting: Sendable {
        let withRoots: Bool
        let done: @Sendable (Answer) -> Void
    }

    private enum State: Sendable {
        case new  // → making
        case making([Waiting])  // → reading, made, new
        case reading(TLSClientContext, [Waiting])  // → made
        case made(TLSClientContext)  // → reading
    }

    /// The result of asking for the context.
    private enum Found {
        case ready(TLSClientContext)
        case first, underWay
    }

    init(_ configuration: TLSConfiguration) { self.configuration = configuration }

    /// Returns the context if it has been made and, if `withRoots`, its roots have been read.
    func context(withRoots: Bool) -> TLSClientContext? {
        let context: TLSClientContext? = state.withLock {
            switch $0 {
            case .made(let context), .reading(let context, _): context
            case .new, .making: nil
            }
        }
        guard let context, !withRoots || context.store.isLoaded else { return nil }
        return context
    }

    /// Makes the context and, if `withRoots`, reads its roots, unless that is done. Calls `done` at once or on a worker.
    func make(withRoots: Bool, _ done: @escaping @Sendable (Answer) -> Void) {
        let waiting = Waiting(withRoots: withRoots, done: done)
        switch state.withLock({ Self.ask(&$0, waiting) }) {
        case .ready(let context): done(.success(context))
        case .underWay: break
        case .first:
            let pool = WorkerPool.trust
            switch pool.submit(pool.newTicket(), { self.load() }) {
            case .running, .queued: break
            // Slow on this thread, but no other thread would do it.
            case .allHung, .noThread: load()
            }
        }
    }

    private static func ask(_ state: inout State, _ waiting: Waiting) -> Found {
        switch state {
        case .new:
            state = .making([waiting])
            return .first
        case .making(let others):
            state = .making(others + [waiting])
            return .underWay
        case .made(let context), .reading(let context, _):
            if !waiting.withRoots || context.store.isLoaded { return .ready(context) }
            guard case .reading(_, let others) = state else {
                state = .reading(context, [waiting])
                return .first
            }
            state = .reading(context, others + [waiting])
            return .underWay
        }
    }

    private func load() {
        var context = context(withRoots: false)
        if context == nil {
            let answer: Answer
            do throws(TLSError) {
                answer = .success(try TLSClientContext(configuration))
            } catch { answer = .failure(error) }
            context = try? answer.get()
            // Callers without need for the roots do not wait for them.
            for waiting in state.withLock({ Self.made(&$0, answer) }) { waiting.done(answer) }
        }
        guard let context, state.withLock({ if case .reading = $0 { true } else { false } }) else { return }
        let answer: Answer
        do throws(TLSError) {
            try context.loadRoots()
            answer = .success(context)
        } catch { answer = .failure(error) }
        let waiting = state.withLock { state -> [Waiting] in
            guard case .reading(_, let waiting) = state else { return [] }
            state = .made(context)
            return waiting
        }
        for waiting in waiting { waiting.done(answer) }
    }

    /// Returns the callers that get the answer now; the others wait for the roots.
    private static func made(_ state: inout State, _ answer: Answer) -> [Waiting] {
        guard case .making(let waiting) = state else { return [] }
        guard case .success(let context) = answer else {
            state = .new
            return waiting
        }
        let isLoaded = context.store.isLoaded
        let readers = waiting.filter { $0.withRoots && !isLoaded }
        state = readers.isEmpty ? .made(context) : .reading(context, readers)
        return waiting.filter { !$0.withRoots || isLoaded }
    }
}
