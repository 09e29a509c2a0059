// SPDX-License-Identifier: MIT

package import LupineHTTP2

/// The steps that an HTTP/2 connection follows for one request instead of answering it: the frames, pauses and endings that a
/// test needs. The other streams of the connection continue.
///
/// Steps run in order, each when the previous one has ended. A stream that its script does not end stays open. The steps `head`
/// and `content` use the connection's `HTTP2Machine`, like any endpoint. The steps `frame` and `octets` bypass the machine, and
/// should not end a stream that the machine considers open. A request over HTTP/1.1 is refused (400).
package struct StreamScript: Sendable {
    /// The stream to which a frame refers.
    package enum Target: Hashable, Sendable {
        /// The script's own stream.
        case own
        /// The stream of a later request of the client: this number of requests after the script's own.
        case ahead(UInt32)
        /// Stream 0: the connection.
        case connection
        /// The largest stream identifier.
        case last
        /// The stream of the client's request before the script's own.
        case before
    }

    /// One step of a script.
    package enum Step: Sendable {
        /// Waits for the end of the request. Resets the stream (INTERNAL_ERROR) if the request's content differs from these
        /// octets.
        case expectExactly([UInt8])
        /// Waits until this number of octets of the request's content has arrived.
        case expectContent(Int)
        /// Waits until the client has reset the stream or the connection has ended. Afterwards only the `signal` steps that
        /// directly follow are performed.
        case expectReset
        /// Sends no WINDOW_UPDATE frames for content that arrives later, like a server that does not read the content.
        case withholdWindowUpdates
        /// Sends a header list without validating it.
        case head([(name: String, value: String)], endsStream: Bool = false)
        /// Sends content as the flow-control windows allow, in DATA frames of at most `frames` octets.
        case content([UInt8], frames: Int = 16_384, endsStream: Bool = true)
        /// Resets the stream, which ends its script.
        case reset(HTTP2ErrorCode)
        /// Changes the connection's settings.
        case set([Setting])
        /// Announces the connection's end with GOAWAY (RFC 9113 §6.8). If `inSteps`, the origin sends GOAWAY twice: the first one
        /// still allows all requests. The final GOAWAY follows when the client has acknowledged a PING that the origin sends
        /// after the first GOAWAY.
        case shutDown(inSteps: Bool)
        /// Sends a GOAWAY frame whose last stream identifier is `last`, without changing the connection's state.
        case goAway(HTTP2ErrorCode, last: Target)
        /// Sends a frame of any type: the last two values are its stream and its payload.
        case frame(type: UInt8, flags: UInt8 = 0, Target = .own, [UInt8] = [])
        /// Sends octets that need not be a frame.
        case octets([UInt8])
        /// Does nothing for this duration.
        case pause(Duration)
        /// Waits until the origin's gate of this name is open.
        case waitForSignal(String)
        /// Waits until this gate is open. The gate need not be one of the origin's.
        case waitForGate(Gate)
        /// Opens the origin's gate of this name. A test that waits for the gate then knows that the script has reached this step.
        case signal(String)
        /// Makes the connection stop sending and drop all later input. The connection stays open.
        case fallSilent
        /// Closes the connection, with a TCP reset if `resetting`.
        case end(resetting: Bool = false)
    }

    /// The steps, in order.
    package var steps: [Step]

    /// Creates a script.
    package init(_ steps: [Step]) { self.steps = steps }
}
