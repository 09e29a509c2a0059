// SPDX-License-Identifier: MIT

package import LupineHTTP2

/// The steps that an HTTP/2 connection follows for one request instead of answering it, while its other streams continue: the
/// frames, pauses and endings that a test needs.
///
/// Steps run in order, each when the previous one has ended. A stream that its script does not end stays open. Heads and content
/// pass through the connection's state machine, like those of any endpoint. `frame` and `octets` bypass the machine, and should
/// not end a stream that the machine considers open. Over HTTP/1.1 the request is refused (400).
package struct StreamScript: Sendable {
    /// The stream of a frame.
    package enum Target: Hashable, Sendable {
        /// The script's own stream.
        case own
        /// The client's stream that is this number of streams after the script's own.
        case ahead(UInt32)
        /// Stream 0: the connection.
        case connection
        /// The largest stream identifier.
        case last
        /// The client's stream before the script's own.
        case before
    }

    /// One step of a script.
    package enum Step: Sendable {
        /// Waits for the end of the request, and resets the stream (INTERNAL_ERROR) if its content is different.
        case expectExactly([UInt8])
        /// Waits until a number of octets of the request's content has arrived.
        case expectContent(Int)
        /// Waits until the client has reset the stream or the connection has ended. Afterwards only the `signal` steps that
        /// directly follow are performed.
        case expectReset
        /// Stops consuming the request's content, so that its windows are not enlarged.
        case withholdWindowUpdates
        /// Sends a header list without validating it.
        case head([(name: String, value: String)], endsStream: Bool = false)
        /// Sends content as the windows allow, in DATA frames of at most `frames` octets.
        case content([UInt8], frames: Int = 16_384, endsStream: Bool = true)
        /// Resets the stream, which ends its script.
        case reset(HTTP2ErrorCode)
        /// Changes the connection's settings.
        case set([Setting])
        /// Announces the connection's end with GOAWAY: at once, or in two steps, which accept requests until the client has
        /// received the announcement.
        case shutDown(inSteps: Bool)
        /// Sends a GOAWAY frame without changing the connection's state.
        case goAway(HTTP2ErrorCode, last: Target)
        /// Sends a frame of any kind.
        case frame(type: UInt8, flags: UInt8 = 0, Target = .own, [UInt8] = [])
        /// Sends octets that need not be a frame.
        case octets([UInt8])
        /// Does nothing for a while.
        case pause(Duration)
        /// Waits until the gate of this name is opened.
        case waitForSignal(String)
        /// Waits until this gate is opened; it need not be one of the origin's.
        case waitForGate(Gate)
        /// Opens the gate of this name, which shows others that the script has reached this step.
        case signal(String)
        /// Makes the connection send nothing more, and drop its input.
        case fallSilent
        /// Closes the connection, with a reset if `resetting`.
        case end(resetting: Bool = false)
    }

    /// The steps, in order.
    package var steps: [Step]

    /// Creates a script.
    package init(_ steps: [Step]) { self.steps = steps }
}
