// SPDX-License-Identifier: MIT

public import LupineLoading

extension Session {
    /// Returns, for each origin, the present number of connections, including WebSockets, and of requests that wait for a
    /// connection. Origins without connections and waiting requests are omitted.
    ///
    /// May be called from any thread. Call it only occasionally, for example to display the numbers: requests wait while the
    /// connections are counted.
    public func poolCounts() -> [URLSession.PoolCounts] { session.poolCounts() }
}
