// SPDX-License-Identifier: MIT

/// The reason why TLS could not secure a connection, or has ended it.
///
/// There is no fallback: after any of these errors the connection has ended.
public enum TLSError: Error, Hashable, Sendable {
    /// The configuration cannot be used. No byte was sent, unless the problem is that the roots cannot be loaded: they are needed
    /// only after the peer's chain has arrived.
    case configuration(TLSConfigurationProblem)
    /// A certificate, a key or an identity of this side cannot be loaded.
    case credentials(CertificateError)
    /// The peer's chain was refused. Usually an alert has told the peer the reason.
    case untrusted(TrustFailure)
    /// The peer ended the connection with this alert.
    case alert(TLSAlert)
    /// The peer requires a certificate, and none was sent.
    case clientCertificateRequired
    /// The peer did not accept the certificate that was sent.
    case clientCertificateRejected(TLSAlert)
    /// There is no version that both sides support.
    case versionNotShared
    /// There is no cipher suite, group or signature algorithm that both sides accept.
    case cipherNotShared
    /// The peer's first bytes are not TLS.
    case notTLS
    /// The peer chose an application protocol that was not offered.
    case protocolNotOffered(String)
    /// HTTP/2 is required, and the peer did not choose it. The associated value is the protocol that it chose, if any.
    case http2NotChosen(String?)
    /// The connection ended without close_notify: the received data may be truncated (RFC 8446 §6.1).
    case truncated
    /// The connection ended before the handshake was complete.
    case closedInHandshake
    /// The peer requested a renegotiation, which is refused.
    case renegotiation
    /// The peer violated the protocol.
    case protocolViolation(OpenSSLFailure)
    /// The peer keeps sending protocol messages without data: `bytes` were received in one read.
    case onlyControlMessages(bytes: Int)
    /// The peer sends too many protocol messages between its data; `count` is the number so far.
    case tooManyMessages(count: Int)
    /// The peer does not read the TLS replies that its messages require: `bytes` is the number of their pending bytes.
    case answersNotRead(bytes: Int)
    /// The underlying connection has failed, for a reason that TLS does not know.
    case wireFailed
}

/// The reason why a configuration cannot be used.
public enum TLSConfigurationProblem: Error, Hashable, Sendable {
    /// The lowest version is above the highest.
    case noVersion(minimum: TLSVersion, maximum: TLSVersion)
    /// This word of the cipher list selects no cipher that this OpenSSL supports.
    case cipherList(String)
    /// This is not a TLS 1.3 cipher suite that this OpenSSL supports.
    case cipherSuite(String)
    /// The list of groups contains one that this OpenSSL does not support.
    case groups(String)
    /// The name of an application protocol is empty or longer than 255 bytes.
    case applicationProtocol(String)
    /// This is not a host name that can be sent in the server name extension (SNI, RFC 6066 §3).
    case host(String)
    /// The key log file cannot be opened; `errno` is the system's error number.
    case keyLog(path: String, errno: Int32)
    /// The roots cannot be loaded.
    case roots(String)
    /// A server has no identity.
    case noIdentity
    /// OpenSSL rejected the certificate and key of an identity.
    case identity(OpenSSLFailure)
    /// OpenSSL rejected a setting for another reason.
    case refused(OpenSSLFailure)
}

extension TLSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .configuration(let problem): "the TLS configuration cannot be used: \(problem)"
        case .credentials(let error): "the local certificate or key cannot be used: \(error)"
        case .untrusted(let failure): "the peer's certificate is not trusted: \(failure)"
        case .alert(let alert): "the peer gave up with the alert \(alert)"
        case .clientCertificateRequired: "the peer wants a client certificate, and none was sent"
        case .clientCertificateRejected(let alert): "the peer refused the client certificate (alert \(alert))"
        case .versionNotShared: "the peer speaks no TLS version that is allowed here"
        case .cipherNotShared: "the peer takes no cipher suite, group or signature that is allowed here"
        case .notTLS: "the peer does not speak TLS on this port"
        case .protocolNotOffered(let name):
            "the peer chose the application protocol \"\(name)\", which was not offered"
        case .http2NotChosen(nil):
            "the peer chose no application protocol, and nothing but HTTP/2 is spoken here"
        case .http2NotChosen(let name?): "the peer chose \"\(name)\", and nothing but HTTP/2 is spoken here"
        case .truncated: "the connection ended without close_notify: what was received may be cut short"
        case .closedInHandshake: "the peer closed the connection during the TLS handshake"
        case .renegotiation: "the peer wants to renegotiate, which is refused"
        case .protocolViolation(let failure): "the peer broke the TLS protocol: \(failure)"
        case .onlyControlMessages(let bytes): "the peer sent \(bytes) bytes of TLS messages without any data"
        case .tooManyMessages(let count): "the peer sent \(count) TLS messages beside its data"
        case .answersNotRead(let bytes):
            "the peer does not read the TLS replies that its messages require; \(bytes) bytes wait"
        case .wireFailed: "the connection under TLS failed"
        }
    }
}

extension TLSConfigurationProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noVersion(let minimum, let maximum):
            "the lowest version \(minimum) is above the highest, \(maximum)"
        case .cipherList(let word): "\"\(word)\" selects no cipher of TLS 1.2 or below"
        case .cipherSuite(let name): "\"\(name)\" is no cipher suite of TLS 1.3"
        case .groups(let list): "\"\(list)\" is no list of known groups"
        case .applicationProtocol(let name):
            "\"\(name)\" is no name of an application protocol (1 to 255 bytes)"
        case .host(let name): "\"\(name)\" is no host name to ask for"
        case .keyLog(let path, let errno): "the key log \(path) cannot be opened (error \(errno))"
        case .roots(let reason): "the trusted roots cannot be loaded: \(reason)"
        case .noIdentity: "a server needs an identity"
        case .identity(let failure): "the certificate and key were refused: \(failure)"
        case .refused(let failure): "OpenSSL refused a setting: \(failure)"
        }
    }
}
