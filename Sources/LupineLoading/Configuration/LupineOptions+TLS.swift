// SPDX-License-Identifier: MIT

public import LupineTLS
public import LupineTransport

extension URLSessionConfiguration.LupineOptions {
    /// How the connections of a session are secured, beyond the versions of the configuration.
    ///
    /// If OpenSSL does not understand one of the texts in full, every request that needs TLS fails with
    /// `secureConnectionFailed`.
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
        /// The trusted root certificates.
        public var roots = TrustRoots.system
        /// Intermediate certificates, for servers that do not send theirs; they are not trusted by themselves.
        public var intermediates: [Certificate] = []
        /// The client certificate and key for servers that ask for one, unless a challenge is answered otherwise.
        public var identity: TLSIdentity?
        /// The https origins that `identity` may be shown to; the host `*` stands for every host. With nil each task shows it
        /// to the origin of its own URL, and to none that a redirect leads to.
        public var identityOrigins: Set<HTTPClient.HostAndPort>?
        /// Whether later connections may resume the TLS sessions of earlier ones.
        public var resumesSessions = true
        /// The file that the secrets of every connection are appended to. Whoever can read it can decrypt the traffic.
        public var keyLogPath: String?
        /// The time limit for one handshake, including the evaluation of the server; nil leaves it to the time-outs of the
        /// request.
        public var handshakeTimeout: Duration? = .seconds(60)

        /// The defaults.
        public init() {}
    }
}
