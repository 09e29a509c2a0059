// SPDX-License-Identifier: MIT

package import LupineTLS

/// Completes the evidence on a peer that was accepted without reading the roots, without blocking the loop that needs it.
extension PeerEvidence {
    /// Reads the roots on a worker thread and then calls `done` on the loop. If they cannot be read, the chain passes no later
    /// evaluation.
    package func readRoots(backOn loop: EventLoop, _ done: @escaping @Sendable () -> Void) {
        let work: @Sendable () -> Void = { [self] in
            readRoots()
            _ = loop.execute(done)
        }
        let pool = WorkerPool.trust
        switch pool.submit(pool.newTicket(), work) {
        case .running, .queued: break
        // Reads on this thread, although that blocks it: no worker is available.
        case .allHung, .noThread: work()
        }
    }
}
