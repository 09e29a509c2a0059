// SPDX-License-Identifier: MIT

package import LupineTLS

/// Reads the root certificates for evidence about a peer that was accepted before they were read. The reading blocks no loop.
extension PeerEvidence {
    /// Reads the roots on a worker thread and then calls `completion` on the loop. If the roots cannot be read, the peer's chain
    /// passes no later evaluation.
    package func readRoots(backOn loop: EventLoop, _ completion: @escaping @Sendable () -> Void) {
        let work: @Sendable () -> Void = { [self] in
            readRoots()
            // The result is ignored: if the loop has ended, nobody waits for the roots.
            _ = loop.execute(completion)
        }
        let pool = WorkerPool.trust
        // Nobody withdraws the work, so its ticket is not kept.
        switch pool.submit(pool.newTicket(), work) {
        case .running, .queued: break
        // If no worker thread is available, the calling thread reads the roots, although that blocks it.
        case .allHung, .noThread: work()
        }
    }
}
