// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The event loop whose connections a request prefers: the one that the program's task runs on that makes the request, and none
/// elsewhere. Carried along because requests go on on other threads.
package struct LoopPreference: Sendable {
    let loop: EventLoop?

    /// The preference of the calling thread.
    package init() { loop = EventLoop.ofRunningJob }

    /// Whether there is one.
    package var isNone: Bool { loop == nil }
}
