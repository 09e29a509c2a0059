// SPDX-License-Identifier: MIT

extension TurnEnd {
    /// Creates work that the event loops of a session perform; without a session, the threads that ask for it perform it.
    package convenience init(of session: URLSession?, _ work: @escaping @Sendable () -> Void) {
        self.init(on: session?.core.context.engine.loops, work)
    }
}
