// SPDX-License-Identifier: MIT

package import LupineHTTP
package import LupineTLS

/// What an origin allows its clients, and what it keeps of them.
package struct OriginConfiguration: Sendable {
    /// Loops that the origin starts for itself when it is given none.
    package var ownLoops = 1
    /// Limits of request heads and chunk framing.
    package var limits = ParserLimits()
    /// The longest body that is collected in memory; `/hash` and `/upload` take any.
    package var collectedBytes = 16 << 20
    /// Connections at a time; further ones are closed at once.
    package var connections = 16_384
    /// With whose certificates it speaks TLS, and how; nil speaks plain HTTP.
    package var tls: TLSServerConfiguration?
    /// Further ones that connections take turns with, the first connection with `tls`: a server whose certificate changes.
    package var furtherTLS: [TLSServerConfiguration] = []
    /// How it speaks HTTP/2 with clients that begin in it, or choose it where `tls` offers it; nil speaks HTTP/1.1 alone.
    package var http2: HTTP2Behaviour?
    /// Silence after which a connection is closed.
    package var idleTimeout = Duration.seconds(60)
    /// Bytes of each connection's content that are recorded.
    package var recordedBytes = 0
    /// Kernel buffers of each connection, where a test wants them small.
    package var socketBuffers: Int32?
    /// What answers every request, in the place of all routes and standard endpoints.
    package var endpoint: Endpoint?
    /// What connections follow instead of HTTP.
    package var script: ScriptPlan?

    /// The defaults.
    package init() {}
}
