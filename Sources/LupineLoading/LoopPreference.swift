// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The event loop whose connections a request prefers: the loop that runs the Swift task which makes the request, or none.
///
/// It is stored with the request, because the request continues on other threads, where that loop is not known.
package struct LoopPreference: Sendable {
    /// The preferred event loop; nil for none.
    let loop: EventLoop?

    /// Creates the preference of the calling thread: for the event loop that runs a Swift task on it, if there is one.
    package init() { loop = EventLoop.ofRunningJob }

    /// Whether no loop is preferred.
    package var isNone: Bool { loop == nil }
}
