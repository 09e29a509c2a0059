// SPDX-License-Identifier: MIT

internal import LupineOrigin

/// A signal that a test opens once. Responses and tests wait for it, so that tests need no estimated delays.
///
/// A response can be held until a signal is open (`TestResponse.held(until:)`), and so can a stream between two pieces
/// (`TestResponse.Piece.wait`). Can be used on any thread.
public final class TestSignal: Sendable {
    /// The gate that the origin waits for.
    let gate = Gate()

    /// Creates a signal that is not open.
    public init() {}

    /// Opens the signal and resumes all waiting tasks. A second call does nothing.
    public func open() { gate.open() }

    /// Returns once the signal is open. Throws `CancellationError` when the task is cancelled first.
    public func wait() async throws {
        let waiter = Waiter<Void>()
        gate.whenOpen { waiter.resume(.success(())) }
        try await waiter.value()
    }
}
