// SPDX-License-Identifier: MIT

package import LupineHTTP2

/// What an HTTP/2 connection does about one request instead of answering it, while its other streams go on: the frames, pauses
/// and endings that a test wants to see handled.
///
/// Steps run in order, each when the one before it is over. A stream that its script has not ended is left as it is. Heads
/// and content go through the connection's own state, as any endpoint's do; `frame` and `octets` go past it, and should not
/// end a stream that it takes for open. Over HTTP/1.1 there is no such thing: the request is refused (400).
package struct StreamScript: Sendable {
    /// Which stream a frame is for.
    package enum Place: Hashable, Sendable {
        /// The script's own.
        case own
        /// So many streams behind it that the client opens.
        case ahead(UInt32)
        /// None: it is about the connection.
        case connection
        /// The last one that there can be.
        case last
        /// The client's stream before its own.
        case before
    }

    /// One thing to do.
    package enum Step: Sendable {
        /// Waits for the end of the request, whose content has to be this; the stream is reset (INTERNAL_ERROR) where it is not.
        case expectExactly([UInt8])
        /// Waits until so many octets of the request's content have come.
        case expectContent(Int)
        /// Waits until the client has given the stream up or its connection has ended; signals behind it are still given.
        case expectReset
        /// Takes no more of the request's content from here on: the window stays as it is.
        case keepContent
        /// Sends a header list, whatever is in it.
        case head([(name: String, value: String)], endsStream: Bool = false)
        /// Sends content as the windows allow, in DATA frames of at most so many octets.
        case content([UInt8], frames: Int = 16_384, endsStream: Bool = true)
        /// Resets the stream, whose script is over with that.
        case reset(HTTP2ErrorCode)
        /// Changes what the connection allows its client.
        case set([Setting])
        /// Says that the connection goes: in two steps, behind which requests are still taken until the client has heard of it,
        /// or at once.
        case leave(inSteps: Bool)
        /// Sends GOAWAY and means nothing by it.
        case goAway(HTTP2ErrorCode, last: Place)
        /// Sends a frame of any kind.
        case frame(type: UInt8, flags: UInt8 = 0, Place = .own, [UInt8] = [])
        /// Sends octets that need not be a frame.
        case octets([UInt8])
        /// Does nothing for a while.
        case pause(Duration)
        /// Waits until the gate of this name is opened.
        case waitForSignal(String)
        /// Waits until this gate is opened, which need not be one of the origin's.
        case waitForGate(Gate)
        /// Opens the gate of this name: whoever waits for it knows that the script has come here.
        case signal(String)
        /// From here on the connection sends nothing, and drops what comes.
        case fallSilent
        /// Closes the connection, in order or (true) with a reset.
        case end(resetting: Bool = false)
    }

    /// What happens, in order.
    package var steps: [Step]

    /// A script of these steps.
    package init(_ steps: [Step]) { self.steps = steps }
}
