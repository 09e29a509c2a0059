// SPDX-License-Identifier: MIT

package import LupineHTTP2

/// What an HTTP/2 connection does about one request instead of answering it, while its other streams go on: the frames, pauses
/// and endings that a test wants to see handled.
///
/// Steps run in order, each after the one before it has ended. A stream that its script does not end stays open. Heads
/// and content go through the connection's own state, as any endpoint's do; `frame` and `octets` go past it, and should not
/// end a stream that it takes for open. Over HTTP/1.1 there is no such thing: the request is refused (400).
package struct StreamScript: Sendable {
    /// Which stream a frame is for.
    package enum Place: Hashable, Sendable {
        /// The script's own.
        case own
        /// A later stream of the client: this many after its own.
        case ahead(UInt32)
        /// Stream 0: the connection.
        case connection
        /// The highest possible stream.
        case last
        /// The client's stream before its own.
        case before
    }

    /// One thing to do.
    package enum Step: Sendable {
        /// Waits for the end of the request, whose content has to be this; the stream is reset (INTERNAL_ERROR) where it is not.
        case expectExactly([UInt8])
        /// Waits until this many octets of the request's content have arrived.
        case expectContent(Int)
        /// Waits until the client has reset the stream or its connection has ended; `signal` steps directly after it still run.
        case expectReset
        /// Stops consuming the request's content: the window is not enlarged any more.
        case keepContent
        /// Sends a header list, whatever is in it.
        case head([(name: String, value: String)], endsStream: Bool = false)
        /// Sends content as the windows allow, in DATA frames of at most so many octets.
        case content([UInt8], frames: Int = 16_384, endsStream: Bool = true)
        /// Resets the stream and ends its script.
        case reset(HTTP2ErrorCode)
        /// Changes the connection's settings.
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
        /// Opens the gate of this name, which tells its waiters that the script has reached this step.
        case signal(String)
        /// From now on the connection sends nothing and discards its input.
        case fallSilent
        /// Closes the connection, in order or (true) with a reset.
        case end(resetting: Bool = false)
    }

    /// What happens, in order.
    package var steps: [Step]

    /// A script of these steps.
    package init(_ steps: [Step]) { self.steps = steps }
}
