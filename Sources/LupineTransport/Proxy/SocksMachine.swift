// SPDX-License-Identifier: MIT

/// The client's half of SOCKS5: CONNECT with no authentication or user and password (RFC 1928, RFC 1929).
///
/// It consumes the proxy's bytes and returns the bytes to send. Names are sent as names, so that the proxy resolves them. The
/// proxy's bytes are not stored. The machine consumes none after the reply's last byte: the following bytes belong to the
/// tunnelled protocol.
package struct SocksMachine: Sendable {
    /// The destination that the proxy is to connect to.
    package enum Destination: Hashable, Sendable {
        /// A host name as it stands in the URL.
        case name(String)
        /// An address, which the proxy need not resolve.
        case ip(IPAddress)
    }

    /// The result of processing received bytes.
    package enum Step: Hashable, Sendable {
        /// All bytes were consumed, and more are expected.
        case needsMore
        /// All bytes were consumed; these are to be sent, then more are expected.
        case send([UInt8])
        /// The tunnel is established. The first `consumed` bytes were the proxy's; the others are the destination's.
        case established(consumed: Int)
    }

    private enum State: Hashable {
        case ready  // → choosing
        case choosing(Greeting)  // → authenticating, requesting, failed
        /// The proxy's answer to the credentials: its version is nil until that byte has arrived.
        case authenticating(version: UInt8?)  // → requesting, failed
        case requesting(Reply)  // → established, failed
        case established
        case failed(SocksError)
    }

    /// The next field of the proxy's method selection: VER METHOD (RFC 1928 §3).
    private enum Greeting: Hashable { case version, method }

    /// The next field of the proxy's reply: VER REP RSV ATYP BND.ADDR BND.PORT (RFC 1928 §6).
    private enum Reply: Hashable {
        case version, code
        case reserved
        case addressType
        case nameLength
        /// This many bytes of the address and the port are still to be skipped.
        case skipping(Int)
    }

    private static let noAuthentication: UInt8 = 0x00
    private static let userAndPassword: UInt8 = 0x02

    private let destination: Destination
    private let port: UInt16
    private let credentials: ProxyServer.Credentials?
    private var state = State.ready
    /// The number of bytes of the proxy that were processed.
    private var received = 0

    /// Creates the machine of one conversation.
    ///
    /// - Throws: `unusableHost` or `unusableCredentials` if a length does not fit in the protocol's one byte.
    package init(
        destination: Destination, port: UInt16, credentials: ProxyServer.Credentials? = nil
    ) throws(SocksError) {
        if case .name(let name) = destination, !(1...255).contains(name.utf8.count) {
            throw .unusableHost(length: name.utf8.count)
        }
        if let credentials,
            !(1...255).contains(credentials.user.count) || !(1...255).contains(credentials.password.count)
        {
            throw .unusableCredentials(
                userLength: credentials.user.count, passwordLength: credentials.password.count)
        }
        self.destination = destination
        self.port = port
        self.credentials = credentials
    }

    /// Returns the first bytes to send: the offered methods. Called once.
    package mutating func start() -> [UInt8] {
        precondition(state == .ready, "a SOCKS conversation starts once")
        state = .choosing(.version)
        // The version 5, the number of methods, and the methods (RFC 1928 §3).
        return credentials == nil
            ? [5, 1, Self.noAuthentication] : [5, 2, Self.noAuthentication, Self.userAndPassword]
    }

    /// Processes bytes of the proxy. After an error, every further call throws the same error.
    package mutating func receive(_ bytes: Span<UInt8>) throws(SocksError) -> Step {
        for index in bytes.indices {
            let step = try process(bytes[index])
            received += 1
            switch step {
            case .needsMore:
                continue
            case .send(let answer):
                // The proxy must wait for each message. Otherwise it could answer the request, and so declare the tunnel
                // established, before it was sent the destination.
                guard index == bytes.count - 1 else { throw fail(.unsolicitedBytes(offset: received)) }
                return .send(answer)
            case .established:
                return .established(consumed: index + 1)
            }
        }
        // `process` throws it too, but is not called for empty input.
        if case .failed(let error) = state { throw error }
        return .needsMore
    }

    /// Returns the error for the proxy's end of stream.
    package mutating func receivedEnd() -> SocksError {
        if case .failed(let error) = state { return error }
        let error = SocksError.closed(received: received)
        state = .failed(error)
        return error
    }

    /// Processes one byte of the proxy. `receive` computes the count of `established` itself.
    private mutating func process(_ byte: UInt8) throws(SocksError) -> Step {
        switch state {
        case .choosing(.version):
            guard byte == 5 else { throw fail(.unexpectedVersion(byte, offset: received)) }
            state = .choosing(.method)
            return .needsMore
        case .choosing(.method):
            if byte == Self.noAuthentication {
                state = .requesting(.version)
                return .send(request)
            }
            // X'FF' stands for no acceptable method (RFC 1928 §3).
            if byte == 0xFF { throw fail(.noAcceptableMethod) }
            guard byte == Self.userAndPassword, let credentials else { throw fail(.unofferedMethod(byte)) }
            state = .authenticating(version: nil)
            // The version 1 of the negotiation, the user and the password, each after its length (RFC 1929 §2).
            return .send(
                [1, UInt8(clamping: credentials.user.count)] + credentials.user
                    + [UInt8(clamping: credentials.password.count)] + credentials.password)
        case .authenticating(nil):
            // RFC 1929 §2 requires 1. Some servers answer 5, and every client accepts it.
            guard byte == 1 || byte == 5 else { throw fail(.unexpectedVersion(byte, offset: received)) }
            state = .authenticating(version: byte)
            return .needsMore
        case .authenticating(_?):
            guard byte == 0 else { throw fail(.authenticationRefused(status: byte)) }
            state = .requesting(.version)
            return .send(request)
        case .requesting(let field):
            guard let next = try nextField(after: field, byte) else {
                state = .established
                return .established(consumed: 0)
            }
            state = .requesting(next)
            return .needsMore
        case .failed(let error):
            throw error
        case .ready, .established:
            preconditionFailure("no bytes are due while \(state)")
        }
    }

    /// Reads one byte of the reply, which belongs to `field`. Returns the field of the next byte; nil after the last byte.
    private mutating func nextField(after field: Reply, _ byte: UInt8) throws(SocksError) -> Reply? {
        switch field {
        case .version:
            guard byte == 5 else { throw fail(.unexpectedVersion(byte, offset: received)) }
            return .code
        case .code:
            if let refusal = Self.refusal(byte) { throw fail(refusal) }
            return .reserved
        case .reserved:
            guard byte == 0 else { throw fail(.reservedByteSet(byte)) }
            return .addressType
        case .addressType:
            // 1 is an IPv4 address, 3 a name, 4 an IPv6 address; the port has two bytes.
            switch byte {
            case 1: return .skipping(4 + 2)
            case 3: return .nameLength
            case 4: return .skipping(16 + 2)
            case _: throw fail(.unknownAddressType(byte))
            }
        case .nameLength:
            return .skipping(Int(byte) + 2)
        case .skipping(let count):
            return count > 1 ? .skipping(count - 1) : nil
        }
    }

    private mutating func fail(_ error: SocksError) -> SocksError {
        state = .failed(error)
        return error
    }

    /// The request: VER CMD RSV ATYP DST.ADDR DST.PORT (RFC 1928 §4).
    private var request: [UInt8] {
        // The type (1 for IPv4, 3 for a name, 4 for IPv6) and the address; a name follows its length.
        let address: [UInt8] =
            switch destination {
            case .ip(let address): [address.isIPv6 ? 4 : 1] + address.octets
            case .name(let name): [3, UInt8(clamping: name.utf8.count)] + Array(name.utf8)
            }
        // The version, CONNECT, and the reserved byte.
        return [5, 1, 0] + address + [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
    }

    /// Returns the error for a reply code; nil for success.
    private static func refusal(_ code: UInt8) -> SocksError? {
        switch code {
        case 0: nil
        case 1: .generalFailure
        case 2: .notAllowed
        case 3: .networkUnreachable
        case 4: .hostUnreachable
        case 5: .connectionRefused
        case 6: .timeToLiveExpired
        case 7: .commandNotSupported
        case 8: .addressTypeNotSupported
        case _: .unknownReply(code)
        }
    }
}
