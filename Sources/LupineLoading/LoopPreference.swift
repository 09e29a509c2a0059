// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The event loop whose connections a request prefers: the loop that runs the Swift task which makes the request, or none. Stored
/// with the request, because other threads continue the request.
package struct LoopPreference: Sendable {
    let loop: EventLoop?

    /// The preference of the calling thread.
    package init() { loop = EventLoop.ofRunningJob }

    /// Whether no loop is preferred.
    package var isNone: Bool { loop == nil }
}
