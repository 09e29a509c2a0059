// SPDX-License-Identifier: MIT

package import LupineHTTP
package import LupineTLS

/// The settings of an origin: its limits, its protocols and what it records.
package struct OriginConfiguration: Sendable {
    /// The number of loops that the origin starts if it is given none.
    package var ownLoops = 1
    /// Limits of request heads and chunk framing.
    package var limits = ParserLimits()
    /// The longest body that is collected in memory; `/hash` and `/upload` accept any length.
    package var collectedBytes = 16 << 20
    /// The maximum number of open connections; further ones are closed at once.
    package var connections = 16_384
    /// The TLS configuration with its certificates; nil for plain HTTP.
    package var tls: TLSServerConfiguration?
    /// Further TLS configurations. Connections use them in turn, starting with `tls`, like a server whose certificate changes.
    package var furtherTLS: [TLSServerConfiguration] = []
    /// The HTTP/2 settings, for clients that send its preface or select it by ALPN if `tls` offers it; nil for HTTP/1.1 only.
    package var http2: HTTP2Behaviour?
    /// The time without activity after which a connection is closed.
    package var idleTimeout = Duration.seconds(60)
    /// The number of bytes recorded of each connection's content.
    package var recordedBytes = 0
    /// The size of each connection's kernel buffers, for tests that need small ones.
    package var socketBuffers: Int32?
    /// An endpoint that answers every request, instead of all routes and standard endpoints.
    package var endpoint: Endpoint?
    /// The scripts that connections follow instead of HTTP.
    package var script: ScriptPlan?

    /// The defaults.
    package init() {}
}
