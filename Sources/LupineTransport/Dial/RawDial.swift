// SPDX-License-Identifier: MIT

/// Opens a raw connection: look-up, race of addresses, and a tunnel if there is a proxy. It starts no TLS with the origin, and
/// does not use the pool.
///
/// Confined to its loop. It calls `report` once. The pending look-up, attempt or handshake retains it.
package final class RawDial {
    private let dialer: Dialer
    private let origin: Origin
    private let loop: EventLoop

    /// Creates a dial to `origin`, whose scheme must be `http`; the owner of the connection starts TLS if needed.
    package init(
        to origin: Origin, configuration: DialConfiguration, resolver: Resolver, on loop: EventLoop
    ) {
        var configuration = configuration
        // A proxy that forwards understands only HTTP. In some protocols the origin sends first, such as in SMTP.
        configuration.tunnelsEverything = true
        configuration.originMaySpeakFirst = true
        self.origin = origin
        self.loop = loop
        // The progress is required, but nobody reads it: no exchange waits for this dial.
        dialer = Dialer(
            DialProgress(to: origin, at: loop.now), configuration: configuration, resolver: resolver,
            loop: loop)
    }

    /// Starts the dial; `report` is called once, with the result.
    package func start(_ report: @escaping (Result<RawConnection, TransportError>) -> Void) {
        dialer.start { [self] outcome in
            report(outcome.map { RawConnection($0, to: origin, on: loop) })
        }
    }

    /// Cancels the dial: unless it has reported, it reports `error`.
    package func cancel(_ error: TransportError) { dialer.cancel(error) }
}
