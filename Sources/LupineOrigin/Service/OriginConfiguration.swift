// SPDX-License-Identifier: MIT

package import LupineHTTP
package import LupineTLS

/// The configuration of an origin: protocols, limits, recording and behaviour.
package struct OriginConfiguration: Sendable {
    /// The number of event loops that the origin creates if the call that starts it passes no loops.
    package var ownLoops = 1
    /// Limits of request heads and chunk framing.
    package var limits = ParserLimits()
    /// The longest request body, in bytes, that the origin collects in memory. `/hash` and `/upload` accept bodies of any length.
    package var maximumCollectedBytes = 16 << 20
    /// The maximum number of open connections. The origin closes further connections at once.
    package var maximumConnections = 16_384
    /// The configuration of TLS, including the certificate; nil for plain HTTP.
    package var tls: TLSServerConfiguration?
    /// Additional TLS configurations. Connections use `tls` and these configurations in turn, as if the certificate changed.
    package var additionalTLS: [TLSServerConfiguration] = []
    /// The behaviour over HTTP/2, for clients that start with its preface or negotiate it with ALPN; nil for HTTP/1.1 only.
    package var http2: HTTP2Behaviour?
    /// The time without activity after which a connection is closed.
    package var idleTimeout = Duration.seconds(60)
    /// The number of received bytes of each connection that the origin records, for `Origin.received(on:)`.
    package var recordedBytes = 0
    /// The size in bytes of each connection's kernel buffers, for tests that need small ones; nil for the kernel's default.
    package var socketBufferSize: Int32?
    /// The endpoint that answers every request, instead of all routes and standard endpoints.
    package var endpoint: Endpoint?
    /// The scripts that connections follow instead of serving HTTP; nil if all connections serve HTTP.
    package var script: ScriptPlan?

    /// Creates the default configuration.
    package init() {}
}
