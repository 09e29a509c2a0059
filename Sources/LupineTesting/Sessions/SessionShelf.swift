// SPDX-License-Identifier: MIT

internal import Lupine
internal import LupineTransport

/// Retains the sessions of a test. A request does not retain its session: without the shelf, a session that is created within an
/// expression would be deallocated at once. Can be used on any thread.
public final class SessionShelf: Sendable {
    private let sessions = Lock<[Session]>([])

    init() {}

    /// Retains the session until the shelf is deallocated, and returns the session.
    func retaining(_ session: Session) -> Session {
        sessions.withLock { $0.append(session) }
        return session
    }
}
