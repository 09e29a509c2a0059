// SPDX-License-Identifier: MIT

import LupineTLS

/// A TLS configuration and its OpenSSL context. The context is made for the first connection. The roots (the root certificates)
/// are read for the first connection whose peer is evaluated with them.
///
/// Loading reads files, so it runs on a worker thread, once for all waiting callers. A failure is not stored: the next caller
/// tries again, because a missing file may exist by then. Profiles with the same configuration share these settings. Any thread
/// may call.
package final class TLSSettings: Sendable {
    let configuration: TLSConfiguration
    private let state = Lock(State.new)

    /// The loaded context, or the reason why it cannot be loaded.
    typealias Answer = Result<TLSClientContext, TLSError>

    /// A caller that waits for the context and, if `withRoots`, for its roots.
    private struct Waiter: Sendable {
        let withRoots: Bool
        let completion: @Sendable (Answer) -> Void
    }

    /// The states; an arrow names the states that may follow.
    private enum State: Sendable {
        case new  // → making
        /// A thread makes the context.
        case making([Waiter])  // → reading, made, new
        /// A thread reads the roots of the context.
        case reading(TLSClientContext, [Waiter])  // → made
        case made(TLSClientContext)  // → reading
    }

    /// What a new caller has to do.
    private enum Admission {
        /// The context is complete; use it.
        case ready(TLSClientContext)
        /// No thread loads the context yet; load it.
        case mustLoad
        /// Another thread loads the context; wait.
        case isLoading
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

    /// Makes the context and, if `withRoots`, reads its roots, unless that has been done. Calls `completion` before it returns,
    /// or later on a worker thread.
    func loadContext(withRoots: Bool, _ completion: @escaping @Sendable (Answer) -> Void) {
        let waiter = Waiter(withRoots: withRoots, completion: completion)
        switch state.withLock({ Self.admit(&$0, waiter) }) {
        case .ready(let context): completion(.success(context))
        case .isLoading: break
        case .mustLoad:
            let pool = WorkerPool.trust
            // Nobody withdraws the work, so its ticket is not kept.
            switch pool.submit(pool.newTicket(), { self.load() }) {
            case .running, .queued: break
            // If no worker thread is available, the calling thread loads the context, although that blocks it.
            case .allHung, .noThread: load()
            }
        }
    }

    /// Returns the complete context, or adds the caller to those that wait.
    private static func admit(_ state: inout State, _ waiter: Waiter) -> Admission {
        switch state {
        case .new:
            state = .making([waiter])
            return .mustLoad
        case .making(let others):
            state = .making(others + [waiter])
            return .isLoading
        case .made(let context), .reading(let context, _):
            if !waiter.withRoots || context.store.isLoaded { return .ready(context) }
            guard case .reading(_, let others) = state else {
                state = .reading(context, [waiter])
                return .mustLoad
            }
            state = .reading(context, others + [waiter])
            return .isLoading
        }
    }

    /// Makes the context, then reads the roots if a caller waits for them.
    private func load() {
        var context = context(withRoots: false)
        if context == nil {
            let answer: Answer
            do throws(TLSError) {
                answer = .success(try TLSClientContext(configuration))
            } catch { answer = .failure(error) }
            context = try? answer.get()
            // Callers that do not need the roots get the context before these are read.
            let waiters = state.withLock { Self.contextMade(&$0, answer) }
            for waiter in waiters { waiter.completion(answer) }
        }
        // Only in the state `reading` does a caller wait for the roots.
        let mustRead = state.withLock { if case .reading = $0 { true } else { false } }
        guard let context, mustRead else { return }
        let answer: Answer
        do throws(TLSError) {
            try context.loadRoots()
            answer = .success(context)
        } catch { answer = .failure(error) }
        let waiters = state.withLock { state -> [Waiter] in
            guard case .reading(_, let waiters) = state else { return [] }
            // After a failure too: the next caller that needs the roots reads them again.
            state = .made(context)
            return waiters
        }
        for waiter in waiters { waiter.completion(answer) }
    }

    /// Stores the context that was made. Returns the callers that can get the answer; the others still wait for the roots. A
    /// failure is not stored, and all callers get it.
    private static func contextMade(_ state: inout State, _ answer: Answer) -> [Waiter] {
        guard case .making(let waiters) = state else { return [] }
        guard case .success(let context) = answer else {
            state = .new
            return waiters
        }
        let isLoaded = context.store.isLoaded
        let waitersForRoots = waiters.filter { $0.withRoots && !isLoaded }
        state = waitersForRoots.isEmpty ? .made(context) : .reading(context, waitersForRoots)
        return waiters.filter { !$0.withRoots || isLoaded }
    }
}
