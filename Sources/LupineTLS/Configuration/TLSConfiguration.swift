// SPDX-License-Identifier: MIT

/// The TLS settings of a client: a value from which a `TLSClientContext` is created once and used many times.
///
/// Creating the context fails if OpenSSL does not know one of the ciphers or groups in the configuration. The security level,
/// which determines the shortest accepted keys, is that of the system's OpenSSL.
public struct TLSConfiguration: Sendable, Hashable {
    /// The lowest version.
    public var minimumVersion: TLSVersion
    /// The highest version.
    public var maximumVersion: TLSVersion
    /// The ciphers up to TLS 1.2, in OpenSSL's syntax; nil for the system's default.
    public var cipherList: String?
    /// The cipher suites of TLS 1.3, separated by colons; nil for the system's default.
    public var cipherSuites: String?
    /// The groups for the key exchange in order of preference, separated by colons; nil for the system's default.
    public var groups: String?
    /// The application protocols to offer in order of preference (RFC 7301); if empty, the extension is not sent. An HTTP client
    /// leaves out the versions of HTTP that it does not support.
    public var applicationProtocols: [String]
    /// The trusted roots.
    public var roots: TrustRoots
    /// Certificates of intermediate authorities, for servers that do not send them. They are not trusted: they only help to build
    /// a chain to a root.
    public var intermediates: [Certificate]
    /// The client's identity, for servers that request one; it is sent only after the server has been accepted.
    public var identity: TLSIdentity?
    /// Whether later connections may resume sessions of earlier ones; if false, the client requests no tickets.
    public var resumesSessions: Bool
    /// The file to which the secrets of every connection are appended, for the analysis of captured traffic. Anyone who can read
    /// the file can decrypt the traffic.
    public var keyLogPath: String?

    /// Creates a configuration. The default values suit an ordinary client.
    public init(
        minimumVersion: TLSVersion = .v1_2, maximumVersion: TLSVersion = .v1_3, cipherList: String? = nil,
        cipherSuites: String? = nil, groups: String? = nil,
        applicationProtocols: [String] = ["h2", "http/1.1"],
        roots: TrustRoots = .system, intermediates: [Certificate] = [], identity: TLSIdentity? = nil,
        resumesSessions: Bool = true,
        keyLogPath: String? = nil
    ) {
        self.minimumVersion = minimumVersion
        self.maximumVersion = maximumVersion
        self.cipherList = cipherList
        self.cipherSuites = cipherSuites
        self.groups = groups
        self.applicationProtocols = applicationProtocols
        self.roots = roots
        self.intermediates = intermediates
        self.identity = identity
        self.resumesSessions = resumesSessions
        self.keyLogPath = keyLogPath
    }
}
