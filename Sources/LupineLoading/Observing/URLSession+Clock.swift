// SPDX-License-Identifier: MIT

extension URLSession {
    /// The session's clock: that of its configuration when the session was made. Any thread.
    package var clock: SessionClock { core.context.clock }
}
