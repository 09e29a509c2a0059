// SPDX-License-Identifier: MIT

/// A Swift task that waits, to be let go on by somebody else, once.
///
/// What the runtime would check, that nobody does it twice, is a matter of the one who keeps it: it is taken out of a locked
/// state to be let go. A checked continuation is an object of its own and is copied at a cost, for each request that somebody
/// awaits.
@safe struct WaitingTask: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    /// Has the caller's task wait if `keeps` keeps it, and go on at once if not.
    nonisolated(nonsending) static func wait(_ keeps: (WaitingTask) -> Bool) async {
        await unsafe withUnsafeContinuation { continuation in
            let task = unsafe WaitingTask(continuation: continuation)
            if !keeps(task) { task.goOn() }
        }
    }

    /// Lets the task go on. Once.
    func goOn() { unsafe continuation.resume() }
}
