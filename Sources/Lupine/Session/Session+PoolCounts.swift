// SPDX-License-Identifier: MIT

public import LupineLoading

extension Session {
    /// Returns the present number of connections to each origin, including WebSockets, and of requests that wait for one. Origins
    /// with neither are omitted. Any thread. Meant to be read occasionally, for a gauge: requests wait while it counts.
    public func poolCounts() -> [URLSession.PoolCounts] { session.poolCounts() }
}
