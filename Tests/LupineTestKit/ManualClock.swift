// SPDX-License-Identifier: MIT

package import LupineTransport

/// A clock that stands still until a test moves it.
package final class ManualClock: TransportClock {
    private let moment = Lock(Instant(nanoseconds: 1_000_000_000))

    package init() {}

    package func now() -> Instant { moment.withLock { $0 } }

    package func advance(by duration: Duration) { moment.withLock { $0 = $0.advanced(by: duration) } }
}
