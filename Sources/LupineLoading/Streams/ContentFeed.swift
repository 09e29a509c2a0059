// SPDX-License-Identifier: MIT

package import Foundation

/// Provides content to a program as a stream that blocks the reading thread until more content arrives.
///
/// All content that was put can be read: the producer should stop while the feed is full, and is called back when it no longer
/// is. The stream calls no delegate and does not support run loops. The feed does not retain it: deallocating the stream closes
/// it.
package final class ContentFeed: Sendable {
    private let pipe: BytePipe
    private let madeRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - capacity: The number of waiting bytes at which the feed is full.
    ///   - madeRoom: Called when a full feed no longer is, after a read or a close, on the thread that does it.
    package init(capacity: Int, madeRoom: @escaping @Sendable () -> Void) {
        pipe = BytePipe(capacity: capacity)
        self.madeRoom = madeRoom
    }

    deinit { end() }

    /// Creates the stream. Call it once.
    package func makeStream() -> InputStream { CapturedInputStream(pipe, madeRoom) }

    /// Whether so much waits to be read that no more should be put. Always false once the stream is closed.
    package var isFull: Bool { pipe.ending == nil && pipe.room == 0 }

    /// Adds `data` to what waits to be read.
    package func put(_ data: Data) { pipe.overfill(data) }

    /// Ends the stream after the content that was put.
    package func end() { pipe.end(.finished) }
}
