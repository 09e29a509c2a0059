// SPDX-License-Identifier: MIT

public import LupineTransport

extension URLSession {
    /// What `poolCounts()` gives for one origin.
    public typealias PoolCounts = LupineTransport.PoolCounts

    /// How many connections there are now to each origin, web sockets among them, and how many requests wait for one. Origins
    /// with neither are not among them. Any thread; to be read now and then, for a gauge: while it counts, requests wait.
    public func poolCounts() -> [PoolCounts] { core.context.engine.poolCounts }
}
