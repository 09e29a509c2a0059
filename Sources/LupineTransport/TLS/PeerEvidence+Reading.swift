// SPDX-License-Identifier: MIT

package import LupineTLS

/// Completes the evidence on a peer that was accepted without reading the roots, off the loop that needs it.
extension PeerEvidence {
    /// Reads the roots on a worker and calls `done` on the loop. If they cannot be read, the chain then passes no evaluation.
    package func readRoots(backOn loop: EventLoop, _ done: @escaping @Sendable () -> Void) {
        let work: @Sendable () -> Void = { [self] in
            readRoots()
            _ = loop.execute(done)
        }
        let pool = WorkerPool.trust
        switch pool.submit(pool.newTicket(), work) {
        case .running, .queued: break
        // Slow on this thread, but no other thread would do it.
        case .allHung, .noThread: work()
        }
    }
}
