// SPDX-License-Identifier: MIT

extension URLSession {
    /// The clock of the session's configuration. Any thread may use it.
    package var clock: SessionClock { core.context.clock }
}
