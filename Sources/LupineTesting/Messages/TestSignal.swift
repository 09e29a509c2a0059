// SPDX-License-Identifier: MIT

internal import LupineOrigin

/// Something that a test opens once, and that responses and tests wait for, so that no test has to guess a time.
///
/// A response can be held until a signal is open (`TestResponse.held(until:)`), and a stream between two pieces
/// (`TestResponse.Piece.wait`). Any thread.
public final class TestSignal: Sendable {
    /// What the origin waits for.
    let gate = Gate()

    /// A signal that is not open.
    public init() {}

    /// Opens the signal; everybody who waits goes on. A second call does nothing.
    public func open() { gate.open() }

    /// Returns once the signal is open. Throws `CancellationError` when the task is cancelled first.
    public func wait() async throws {
        let waiter = Waiter<Void>()
        gate.whenOpen { waiter.resume(.success(())) }
        try await waiter.value()
    }
}
