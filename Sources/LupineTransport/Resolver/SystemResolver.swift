// SPDX-License-Identifier: MIT

/// The machine's own resolver (`/etc/hosts`, DNS, and whatever else `nsswitch.conf` names), as a `Resolver`
/// uses it.
///
/// It blocks, so it runs only on threads of `WorkerPool`. Tests give a `Resolver` another function.
package enum SystemResolver {
    /// Finds the addresses of a host, with port 0. May block for any time.
    package typealias LookUpFunction =
        @Sendable (_ host: String, _ family: AddressFamily) throws(ResolutionError) -> [SocketAddress]

    /// Calls `getaddrinfo`.
    package static let lookUp: LookUpFunction = { host, family throws(ResolutionError) in
        try AddressLookUp.addresses(of: host, family)
    }
}
