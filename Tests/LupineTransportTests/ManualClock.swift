// SPDX-License-Identifier: MIT

import LupineTransport

/// A clock that stands still until a test moves it.
final class ManualClock: TransportClock {
    private let moment = Lock(Instant(nanoseconds: 1_000_000_000))

    func now() -> Instant { moment.withLock { $0 } }

    func advance(by duration: Duration) { moment.withLock { $0 = $0.advanced(by: duration) } }
}
