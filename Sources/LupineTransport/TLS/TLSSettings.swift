// SPDX-License-Identifier: MIT

import LupineTLS

/// A TLS configuration and, from the first connection on, the context made of it: text understood and, from the first connection
/// on whose peer is judged by them, roots read.
///
/// Loading reads files, so it happens on a worker, once, while those who wait for it wait together. What cannot be made is
/// tried again for the next who asks: a file may have come meanwhile. Profiles of one configuration share it. Any thread.
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

    /// What asking has come to.
    private enum Found {
        case ready(TLSClientContext)
        case first, underWay
    }

    init(_ configuration: TLSConfiguration) { self.configuration = configuration }

    /// The context, if it has been made; `withRoots` only if its roots have been read, too.
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

    /// Makes the context, and reads its roots for who wants it `withRoots`, unless that was done; calls `done` with it: at once, or on
    /// a worker.
    func make(withRoots: Bool, _ done: @escaping @Sendable (Answer) -> Void) {
        let waiting = Waiting(withRoots: withRoots, done: done)
        switch state.withLock({ Self.ask(&$0, waiting) }) {
        case .ready(let context): done(.success(context))
        case .underWay: break
        case .first:
            let pool = WorkerPool.trust
            switch pool.submit(pool.newTicket(), { self.load() }) {
            case .running, .queued: break
            // Slow, but no reason to give up: nobody else would do it.
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
            // Who needs no roots does not wait for them.
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

    /// Who hears of the answer now; who is left waits for the roots.
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
