// SPDX-License-Identifier: MIT

package import LupineTLS

/// How more is found out about a peer that was accepted without a look at the roots, off the loop that wants to know it.
extension PeerEvidence {
    /// Has a worker read the roots, and comes back to the loop. Where they cannot be read, the chain passes no evaluation then.
    package func readRoots(backOn loop: EventLoop, _ done: @escaping @Sendable () -> Void) {
        let work: @Sendable () -> Void = { [self] in
            readRoots()
            _ = loop.execute(done)
        }
        let pool = WorkerPool.trust
        switch pool.submit(pool.newTicket(), work) {
        case .running, .queued: break
        // Slow, but no reason to give up: nobody else would do it.
        case .allHung, .noThread: work()
        }
    }
}
