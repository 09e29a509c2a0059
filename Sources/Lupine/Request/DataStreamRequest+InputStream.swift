// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

extension DataStreamRequest {
    /// Resumes the request, and gives its content as a stream to be read: what comes from now on, in all attempts, until the
    /// request has come to its end. Handlers may be there as well.
    ///
    /// The caller opens and closes the stream; reading waits, on the thread that reads, for content. No byte is lost: the
    /// transfer pauses until the reader makes room, so a stream that is neither read nor closed nor let go holds it up. The
    /// stream calls no delegate and is served by no run loop. Another call gives another stream and ends the first, whose
    /// bytes can still be read.
    ///
    /// - Parameter bufferSize: When so many bytes wait to be read the transfer pauses.
    /// - Returns: The stream; never nil.
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
        let feed = ContentFeed(capacity: bufferSize) { [weak self] in
            guard let self else { return }
            perform(streamState.write { $0.balance() })
        }
        let stream = feed.makeStream()
        let (ended, hold) = streamState.write { state -> (ContentFeed?, Hold?) in
            if state.hasEnded { return (feed, nil) }
            let old = state.feed
            state.feed = feed
            return (old, state.balance())
        }
        perform(hold)
        ended?.end()
        resume()
        return stream
    }
}
