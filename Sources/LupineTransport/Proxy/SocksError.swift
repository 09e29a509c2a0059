// SPDX-License-Identifier: MIT

/// The reason why a SOCKS5 proxy opened no connection.
///
/// The cases of the first group are refusals by the proxy. If a refusal is a reply, the case names the reply code (RFC 1928 §6).
/// The cases of the second group are violations of SOCKS5. The cases of the third are values of the caller that SOCKS5 cannot
/// carry.
public enum SocksError: Error, Hashable, Sendable {
    /// Reply X'01': a failure that the proxy does not explain.
    case generalFailure
    /// Reply X'02': the proxy's rules forbid the connection.
    case notAllowed
    /// Reply X'03': the proxy has no route to the network.
    case networkUnreachable
    /// Reply X'04': the proxy cannot reach the host. Most proxies send it also for a name that does not resolve.
    case hostUnreachable
    /// Reply X'05': the destination refused the connection.
    case connectionRefused
    /// Reply X'06': a packet expired on its way to the host.
    case timeToLiveExpired
    /// Reply X'07': the proxy does not support CONNECT.
    case commandNotSupported
    /// Reply X'08': the proxy does not support the type of the address, such as a host name.
    case addressTypeNotSupported
    /// A reply code that RFC 1928 does not assign.
    case unknownReply(UInt8)
    /// The proxy accepts none of the offered authentication methods.
    case noAcceptableMethod
    /// The user or password is wrong. `status` is the proxy's answer (RFC 1929 §2).
    case authenticationRefused(status: UInt8)

    /// The version byte at `offset` of the proxy's bytes is not the expected one.
    case unexpectedVersion(UInt8, offset: Int)
    /// The proxy chose a method that was not offered.
    case unofferedMethod(UInt8)
    /// The reserved byte of a reply is not zero.
    case reservedByteSet(UInt8)
    /// The reply's address is of an unknown type.
    case unknownAddressType(UInt8)
    /// The proxy answered a message before it was sent.
    case unsolicitedBytes(offset: Int)
    /// The proxy closed the connection after `received` bytes.
    case closed(received: Int)

    /// The host name is empty or does not fit in one length byte.
    case unusableHost(length: Int)
    /// The user or password is empty or does not fit in one length byte.
    case unusableCredentials(userLength: Int, passwordLength: Int)
}

extension SocksError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .generalFailure: "it failed, and does not say why"
        case .notAllowed: "its rules forbid this host or port"
        case .networkUnreachable: "it has no route to the network"
        case .hostUnreachable: "it does not reach the host, or does not know its name"
        case .connectionRefused: "nothing listens where it was to connect to"
        case .timeToLiveExpired: "its packets do not reach the host"
        case .commandNotSupported: "it does not support CONNECT"
        case .addressTypeNotSupported: "it does not take host names"
        case .unknownReply(let code): "it answered with the code \(code), which RFC 1928 does not assign"
        case .noAcceptableMethod:
            "it takes none of the ways to say who we are; see whether it wants a name and a password"
        case .authenticationRefused(let status): "the name or the password is wrong (status \(status))"
        case .unexpectedVersion(let octet, let offset):
            "octet \(offset) of what it sent is \(octet), which is no version of SOCKS 5: see whether the port is right"
        case .unofferedMethod(let method): "it chose the method \(method), which was not offered"
        case .reservedByteSet(let octet): "a reserved octet of its reply is \(octet), not 0"
        case .unknownAddressType(let type): "its reply has an address of the unknown type \(type)"
        case .unsolicitedBytes(let offset): "it sent octet \(offset) before it was asked"
        case .closed(let received): "it closed the connection after \(received) octets"
        case .unusableHost(let length): "a host name of \(length) octets does not fit: 1 to 255 do"
        case .unusableCredentials(let user, let password):
            "a name of \(user) and a password of \(password) octets do not fit: 1 to 255 do"
        }
    }
}
