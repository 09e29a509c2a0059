// SPDX-License-Identifier: MIT

public import LupineTLS
public import LupineTransport

extension URLSessionConfiguration.LupineOptions {
    /// The options of a session for TLS. They add to the minimum and maximum version in the configuration.
    ///
    /// If OpenSSL does not accept `cipherList`, `cipherSuites` or `groups`, every request that needs TLS fails with
    /// `secureConnectionFailed`.
    public struct TLS: Sendable, Hashable {
        /// The lowest version of TLS that is allowed; nil for that of the configuration.
        public var minimumVersion: TLSVersion?
        /// The highest version of TLS that is allowed; nil for that of the configuration.
        public var maximumVersion: TLSVersion?
        /// The ciphers up to TLS 1.2, in OpenSSL's syntax; nil for those of the system's OpenSSL configuration.
        public var cipherList: String?
        /// The cipher suites of TLS 1.3, separated by colons; nil for those of the system's OpenSSL configuration.
        public var cipherSuites: String?
        /// The groups for the key exchange in order of preference, separated by colons; nil for those of the system's OpenSSL
        /// configuration.
        public var groups: String?
        /// The trusted root certificates.
        public var roots = TrustRoots.system
        /// Intermediate certificates, for servers that do not send theirs. They are not trusted as roots.
        public var intermediates: [Certificate] = []
        /// The client certificate and its key, for servers that ask for a certificate. A delegate's answer to the challenge takes
        /// precedence.
        public var identity: TLSIdentity?
        /// The https origins to which `identity` may be sent; the host `*` stands for every host. With nil, a task sends it only
        /// to the origin of its own URL, not to another origin after a redirect.
        public var identityOrigins: Set<HTTPClient.HostAndPort>?
        /// Whether later connections may resume the TLS sessions of earlier ones.
        public var resumesSessions = true
        /// The path of a file to which the secrets of every connection are appended. Who can read the file can decrypt the
        /// traffic.
        public var keyLogPath: String?
        /// The time limit for a handshake, including the evaluation of the server's certificate. With nil, only the time-outs of
        /// the request apply.
        public var handshakeTimeout: Duration? = .seconds(60)

        /// The defaults.
        public init() {}
    }
}
