// SPDX-License-Identifier: MIT

import LupineTLS

/// A TLS configuration and, from the first connection on, the context made of it: roots loaded, text understood.
///
/// Loading reads files, so it happens on a worker, once, while those who wait for it wait together. What cannot be made is
/// tried again for the next who asks: a file may have come meanwhile. Profiles of one configuration share it. Any thread.
package final class TLSSettings: Sendable {
    let configuration: TLSConfiguration
    private let state = Lock(State.new)

    typealias Answer = Result<TLSClientContext, TLSError>

    private enum State: Sendable {
        case new
        case making([@Sendable (Answer) -> Void])
        case made(TLSClientContext)
    }

    init(_ configuration: TLSConfiguration) { self.configuration = configuration }

    /// The context, if it has been made.
    var context: TLSClientContext? {
        state.withLock { if case .made(let context) = $0 { context } else { nil } }
    }

    /// Makes the context unless that was done, and calls `done` with it: at once, or on a worker.
    func make(_ done: @escaping @Sendable (Answer) -> Void) {
        enum Found {
            case made(TLSClientContext)
            case first, underWay
        }
        let found = state.withLock { state -> Found in
            switch state {
            case .made(let context): return .made(context)
            case .making(let waiting):
                state = .making(waiting + [done])
                return .underWay
            case .new:
                state = .making([done])
                return .first
            }
        }
        switch found {
        case .made(let context): done(.success(context))
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

    private func load() {
        let answer: Answer
        do throws(TLSError) {
            answer = .success(try TLSClientContext(configuration))
        } catch { answer = .failure(error) }
        let waiting = state.withLock { state -> [@Sendable (Answer) -> Void] in
            guard case .making(let waiting) = state else { return [] }
            if case .success(let context) = answer { state = .made(context) } else { state = .new }
            return waiting
        }
        for done in waiting { done(answer) }
    }
}
