// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

extension DataStreamRequest {
    /// Resumes the request and returns a stream of the content that arrives after this call, over all attempts, until the request
    /// ends. Handlers can be used at the same time.
    ///
    /// The caller opens and closes the stream. A read blocks its thread until content arrives. While the stream's buffer is full,
    /// the transfer pauses, so no byte is lost. It stays paused until the program reads, closes or releases the stream. The
    /// stream calls no delegate and needs no run loop. Another call returns a new stream and ends the first one, whose buffered
    /// bytes can still be read.
    ///
    /// - Parameter bufferSize: The number of unread bytes at which the transfer pauses.
    /// - Returns: The stream; never nil.
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
        let feed = ContentFeed(capacity: bufferSize) { [weak self] in
            // The reader has made room in a full buffer, so the task's content may be released.
            guard let self else { return }
            apply(streamState.write { $0.holdOrRelease() })
        }
        let stream = feed.makeStream()
        // A feed supplies the content to one stream. If no more content will arrive, the new feed ends at once. Otherwise it
        // replaces the previous feed, which ends.
        let (endingFeed, holdDecision) = streamState.write { state -> (ContentFeed?, HoldDecision?) in
            if state.hasContentEnded { return (feed, nil) }
            let previousFeed = state.feed
            state.feed = feed
            // The previous feed may have been full. The new one is empty.
            return (previousFeed, state.holdOrRelease())
        }
        apply(holdDecision)
        endingFeed?.end()
        resume()
        return stream
    }
}
