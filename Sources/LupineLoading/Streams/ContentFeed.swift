// SPDX-License-Identifier: MIT

package import Foundation

/// Hands content to a program as a stream that waits, on the thread that reads, for what has not come yet.
///
/// All that is put can be read: whoever puts is to stop while the feed is full, and hears when that is over. The stream
/// calls no delegate and is served by no run loop. The feed does not hold it: a stream that goes away unread is a closed one.
package final class ContentFeed: Sendable {
    private let pipe: BytePipe
    private let madeRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - capacity: The feed is full when so many bytes wait.
    ///   - madeRoom: Called when a feed that was full no longer is, by reading or by closing; on the thread that does it.
    package init(capacity: Int, madeRoom: @escaping @Sendable () -> Void) {
        pipe = BytePipe(capacity: capacity)
        self.madeRoom = madeRoom
    }

    deinit { end() }

    /// The stream, to be made once.
    package func makeStream() -> InputStream { CapturedInputStream(pipe, madeRoom) }

    /// Whether so much waits to be read that no more should be put. Not when nobody reads any more.
    package var isFull: Bool { pipe.ending == nil && pipe.room == 0 }

    /// Has `data` wait to be read.
    package func put(_ data: Data) { pipe.overfill(data) }

    /// What was put can still be read; then the stream ends.
    package func end() { pipe.end(.finished) }
}
