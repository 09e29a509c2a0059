// SPDX-License-Identifier: MIT

extension URLSession {
    /// What the session goes by: its configuration's, as it was when the session was made. Any thread.
    package var clock: SessionClock { core.context.clock }
}
