// SPDX-License-Identifier: MIT

public import LupineTransport

/// Counts connections and waiting requests.
extension URLSession {
    /// An element of `poolCounts()`, for one origin.
    public typealias PoolCounts = LupineTransport.PoolCounts

    /// Returns the current number of connections to each origin, including WebSockets, and the number of requests that wait for a
    /// connection. Omits an origin that has neither. May be called on any thread; call it rarely, such as for a gauge, because
    /// requests wait while it counts.
    public func poolCounts() -> [PoolCounts] { core.context.engine.poolCounts }
}
