// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The settings of a load's hops that the task may change at any time.
struct HopControls: Sendable {
    /// Whether the task is suspended.
    var isSuspended = false
    /// The priority, 0...1, of the hops among those that wait for a connection.
    var priority: Float
    /// The event loop whose connections the hops prefer.
    var preferredLoop: EventLoop?

    /// Passes the changes since earlier controls to a hop.
    ///
    /// - Parameters:
    ///   - load: The hop's load.
    ///   - earlier: The controls that the load has.
    ///   - latest: Returns the present controls. Called until the suspension has not changed meanwhile: other threads may change
    ///     it, and pass it on, at the same time.
    func pass(to load: (any HopLoad)?, since earlier: HopControls, latest: () -> HopControls) {
        if priority != earlier.priority { load?.setPriority(priority) }
        var (passed, wanted) = (earlier.isSuspended, isSuspended)
        while wanted != passed {
            load?.setSuspended(wanted)
            passed = wanted
            wanted = latest().isSuspended
        }
    }
}
