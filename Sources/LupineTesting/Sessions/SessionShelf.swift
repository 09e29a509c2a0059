// SPDX-License-Identifier: MIT

internal import Lupine
internal import LupineTransport

/// Keeps the sessions that were made for a test: a request does not keep its own, so that one which is made in the middle of an
/// expression would end at once. Any thread.
public final class SessionShelf: Sendable {
    private let sessions = Lock<[Session]>([])

    init() {}

    /// The session, which from here on lives as long as the shelf.
    func keeping(_ session: Session) -> Session {
        sessions.withLock { $0.append(session) }
        return session
    }
}
