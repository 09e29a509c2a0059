// SPDX-License-Identifier: MIT

public import LupineTLS
public import LupineTransport

extension URLSessionConfiguration.LupineOptions {
    /// The TLS options of a session, in addition to the versions in the configuration.
    ///
    /// If OpenSSL rejects a part of `cipherList`, `cipherSuites` or `groups`, every request that needs TLS fails with
    /// `secureConnectionFailed`.
    public struct TLS: Sendable, Hashable {
        /// The lowest version of TLS; nil for the configuration's.
        public var minimumVersion: TLSVersion?
        /// The highest version of TLS; nil for the configuration's.
        public var maximumVersion: TLSVersion?
        /// The ciphers up to TLS 1.2, in OpenSSL's syntax; nil for the system's.
        public var cipherList: String?
        /// The cipher suites of TLS 1.3, separated by colons; nil for the system's.
        public var cipherSuites: String?
        /// The groups for the key exchange in order of preference, separated by colons; nil for the system's.
        public var groups: String?
        /// The trusted root certificates.
        public var roots = TrustRoots.system
        /// Intermediate certificates, for servers that do not send theirs. They are not trusted as roots.
        public var intermediates: [Certificate] = []
        /// The client certificate and key for servers that ask for one. A delegate's answer to the challenge takes precedence.
        public var identity: TLSIdentity?
        /// The https origins to which `identity` may be sent; the host `*` stands for every host. With nil, a task sends it to
        /// the origin of its own URL only, not to origins that a redirect leads to.
        public var identityOrigins: Set<HTTPClient.HostAndPort>?
        /// Whether later connections may resume the TLS sessions of earlier ones.
        public var resumesSessions = true
        /// The path of a file to which the secrets of every connection are appended. Who can read the file can decrypt the
        /// traffic.
        public var keyLogPath: String?
        /// The time limit for a handshake, including the evaluation of the server; with nil only the time-outs of the request
        /// apply.
        public var handshakeTimeout: Duration? = .seconds(60)

        /// The defaults.
        public init() {}
    }
}
