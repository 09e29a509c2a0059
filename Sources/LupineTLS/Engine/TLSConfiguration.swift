// SPDX-License-Identifier: MIT

/// How a client secures its connections: a value, to be made into a `TLSClientContext` once and used many times.
///
/// Text that OpenSSL does not understand in full is an error when the context is made, never silently less. The
/// security level, and with it the shortest keys that are taken, stays as the system's OpenSSL has it.
public struct TLSConfiguration: Sendable, Hashable {
    /// The lowest version.
    public var minimumVersion: TLSVersion
    /// The highest version.
    public var maximumVersion: TLSVersion
    /// The ciphers up to TLS 1.2, in OpenSSL's syntax; nil for the system's.
    public var cipherList: String?
    /// The cipher suites of TLS 1.3, separated by colons; nil for the system's.
    public var cipherSuites: String?
    /// The groups for the key exchange in order, separated by colons; nil for the system's.
    public var groups: String?
    /// The application protocols that are offered, the most wanted first (RFC 7301); none offers nothing. A client offers
    /// those of HTTP only that it speaks.
    public var applicationProtocols: [String]
    /// What is trusted.
    public var roots: TrustRoots
    /// Certificates of authorities for servers that forget to send them. They are not trusted: they only help a chain to
    /// reach what is.
    public var intermediates: [Certificate]
    /// Who this side is when the server asks; it is sent only once the server has been accepted.
    public var identity: TLSIdentity?
    /// Whether later connections may take up where an earlier one began.
    public var resumesSessions: Bool
    /// The file that the secrets of every connection are appended to, for looking into captured traffic. Whoever can
    /// read it can read the traffic.
    public var keyLogPath: String?

    /// A configuration; the defaults are those of every client.
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
