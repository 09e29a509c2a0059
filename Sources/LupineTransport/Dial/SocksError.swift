// SPDX-License-Identifier: MIT

/// Why a SOCKS5 proxy gave no connection.
///
/// The first group is the proxy's word, the second bytes that are not SOCKS5, the last our caller's input.
public enum SocksError: Error, Hashable, Sendable {
    /// X'01'.
    case generalFailure
    /// X'02': the proxy's rules forbid the connection.
    case notAllowed
    /// X'03'.
    case networkUnreachable
    /// X'04'; most proxies say this also for a name that does not resolve.
    case hostUnreachable
    /// X'05'.
    case connectionRefused
    /// X'06'.
    case timeToLiveExpired
    /// X'07'.
    case commandNotSupported
    /// X'08'.
    case addressTypeNotSupported
    /// A reply code that RFC 1928 does not assign.
    case unknownReply(UInt8)
    /// None of the offered authentication methods suits the proxy.
    case noAcceptableMethod
    /// The user or password is wrong; the proxy's status is kept (RFC 1929 §2).
    case authenticationRefused(status: UInt8)

    /// The version byte at `offset` of what the proxy sent is not the one due there.
    case unexpectedVersion(UInt8, offset: Int)
    /// The proxy chose a method that was not offered.
    case unofferedMethod(UInt8)
    /// The reserved byte of a reply is not zero.
    case reservedByteSet(UInt8)
    /// The reply's address is of no known type.
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
