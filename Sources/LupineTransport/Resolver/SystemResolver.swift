// SPDX-License-Identifier: MIT

/// The look-up function that a `Resolver` uses by default. It asks the machine's resolver: `/etc/hosts`, DNS and the other
/// sources in `nsswitch.conf`.
///
/// It blocks, so it runs only on threads of `WorkerPool`. Tests pass another function to the `Resolver`.
package enum SystemResolver {
    /// Finds the addresses of a host, with port 0. May block for any time.
    package typealias LookUpFunction =
        @Sendable (_ host: String, _ family: AddressFamily) throws(ResolutionError) -> [SocketAddress]

    /// Calls `getaddrinfo`.
    package static let lookUp: LookUpFunction = { host, family throws(ResolutionError) in
        try AddressLookUp.addresses(of: host, family)
    }
}
