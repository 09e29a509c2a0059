// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The event loop whose connections a request prefers: the loop that runs the Swift task which makes the request, or none. The
/// preference is stored, because requests are continued on other threads.
package struct LoopPreference: Sendable {
    let loop: EventLoop?

    /// The preference of the calling thread.
    package init() { loop = EventLoop.ofRunningJob }

    /// Whether no loop is preferred.
    package var isNone: Bool { loop == nil }
}
