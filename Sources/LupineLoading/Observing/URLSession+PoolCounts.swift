// SPDX-License-Identifier: MIT

public import LupineTransport

extension URLSession {
    /// An element of `poolCounts()`, for one origin.
    public typealias PoolCounts = LupineTransport.PoolCounts

    /// The present number of connections to each origin, web sockets included, and of requests that wait for one. Origins with
    /// neither are left out. Any thread. Meant to be read now and then, for a gauge: requests wait while it counts.
    public func poolCounts() -> [PoolCounts] { core.context.engine.poolCounts }
}
