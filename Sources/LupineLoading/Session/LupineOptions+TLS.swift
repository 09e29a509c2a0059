// SPDX-License-Identifier: MIT

public import LupineTLS
public import LupineTransport

extension URLSessionConfiguration.LupineOptions {
    /// How the connections of a session are secured, beyond the versions of the configuration.
    ///
    /// Text that OpenSSL does not understand in full makes every request that needs TLS fail with `secureConnectionFailed`.
    public struct TLS: Sendable, Hashable {
        /// The lowest version; nil for the configuration's.
        public var minimumVersion: TLSVersion?
        /// The highest version; nil for the configuration's.
        public var maximumVersion: TLSVersion?
        /// The ciphers up to TLS 1.2, in OpenSSL's syntax; nil for the system's.
        public var cipherList: String?
        /// The cipher suites of TLS 1.3, separated by colons; nil for the system's.
        public var cipherSuites: String?
        /// The groups for the key exchange in order, separated by colons; nil for the system's.
        public var groups: String?
        /// What is trusted.
        public var roots = TrustRoots.system
        /// Certificates of authorities for servers that forget to send them; they are not trusted by themselves.
        public var intermediates: [Certificate] = []
        /// Who the session is to a server that asks, unless a challenge is answered otherwise.
        public var identity: TLSIdentity?
        /// The https origins that may see `identity`; the host `*` stands for every host. With nil each task shows it to the
        /// origin that it names, and to none that a redirect leads to.
        public var identityOrigins: Set<HTTPClient.HostAndPort>?
        /// Whether later connections may take up where an earlier one began.
        public var resumesSessions = true
        /// The file that the secrets of every connection are appended to. Whoever can read it can read the traffic.
        public var keyLogPath: String?
        /// One handshake, judging the server included; nil leaves it to the time-outs of the request.
        public var handshakeTimeout: Duration? = .seconds(60)

        /// The defaults.
        public init() {}
    }
}
