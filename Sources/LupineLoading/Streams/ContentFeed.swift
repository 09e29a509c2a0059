// SPDX-License-Identifier: MIT

package import Foundation

/// Provides content to a program as a stream that blocks the reading thread until more content arrives.
///
/// A full feed still accepts content, but the producer should stop calling `put` until the feed calls `madeRoom`. The stream
/// calls no delegate and does not support run loops. The feed does not retain the stream, which closes when it is deallocated.
package final class ContentFeed: Sendable {
    private let pipe: BytePipe
    private let madeRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - capacity: The number of waiting bytes at which the feed is full.
    ///   - madeRoom: Called when a full feed accepts content again, on the thread that has read from the stream or closed it.
    package init(capacity: Int, madeRoom: @escaping @Sendable () -> Void) {
        pipe = BytePipe(capacity: capacity)
        self.madeRoom = madeRoom
    }

    deinit { end() }

    /// Creates the stream. May be called only once.
    package func makeStream() -> InputStream { CapturedInputStream(pipe, madeRoom) }

    /// Whether the producer should stop putting content; false once the stream is closed.
    package var isFull: Bool { pipe.ending == nil && pipe.room == 0 }

    /// Appends `data` to the content to be read.
    package func put(_ data: Data) { pipe.appendAll(data) }

    /// Ends the stream: the reader gets the end after the content that was put before.
    package func end() { pipe.end(.finished) }
}
