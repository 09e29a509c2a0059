// SPDX-License-Identifier: MIT

/// Opens a raw connection: look-up, race of addresses, and a tunnel where there is a proxy. No TLS, no pool.
///
/// It belongs to its loop, reports once, and is kept by what it waits for.
package final class RawDial {
    private let dialer: Dialer
    private let origin: Origin
    private let loop: EventLoop

    /// A dial to `origin`, whose scheme has to be `http`; TLS is the connection's to start.
    package init(
        to origin: Origin, configuration: DialConfiguration, resolver: Resolver, on loop: EventLoop
    ) {
        var configuration = configuration
        configuration.tunnelsEverything = true
        configuration.originMaySpeakFirst = true
        self.origin = origin
        self.loop = loop
        dialer = Dialer(
            DialProgress(to: origin, at: loop.now), configuration: configuration, resolver: resolver,
            loop: loop)
    }

    /// Begins; `report` is called once, with what came of it.
    package func start(_ report: @escaping (Result<RawConnection, TransportError>) -> Void) {
        dialer.start { [self] outcome in
            report(outcome.map { RawConnection($0, to: origin, on: loop) })
        }
    }

    /// Gives it up: unless it has reported, it reports this.
    package func cancel(_ error: TransportError) { dialer.cancel(error) }
}
