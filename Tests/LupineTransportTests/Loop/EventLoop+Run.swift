// SPDX-License-Identifier: MIT

import LupineTransport
import Testing

extension EventLoop {
    /// Runs `body` on the loop and returns its result.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            #expect(execute { continuation.resume(returning: body()) })
        }
    }
}

/// Runs `body` with a new loop, and shuts the loop down afterwards.
func withLoop<Result>(
    clock: any TransportClock = MonotonicClock(), _ body: (EventLoop) async throws -> Result
) async throws -> Result {
    let loop = try EventLoop.start(name: "test-loop", clock: clock)
    do {
        let result = try await body(loop)
        await loop.shutdown()
        return result
    } catch {
        await loop.shutdown()
        throw error
    }
}
