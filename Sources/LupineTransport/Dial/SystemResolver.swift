// SPDX-License-Identifier: MIT

/// The machine's own resolver (`/etc/hosts`, DNS, and whatever else `nsswitch.conf` names), as a `Resolver`
/// uses it.
///
/// It waits, so it runs on threads of `WorkerPool` and nowhere else. Tests give a `Resolver` another
/// function.
package enum SystemResolver {
    /// Finds the addresses of a host, with port 0; may take as long as it likes.
    package typealias LookUpFunction =
        @Sendable (_ host: String, _ family: AddressFamily) throws(ResolutionError) -> [SocketAddress]

    /// Asks `getaddrinfo`.
    package static let lookUp: LookUpFunction = { host, family throws(ResolutionError) in
        try AddressLookUp.addresses(of: host, family)
    }
}
