// SPDX-License-Identifier: MIT

/// The client's half of SOCKS5: CONNECT without authentication, or with user and password (RFC 1928, RFC 1929).
///
/// It consumes the proxy's bytes and returns the bytes to send. It sends a host name as a name, so that the proxy resolves it. It
/// does not store the proxy's bytes, and consumes none after the last byte of the reply: those belong to the tunnelled protocol.
package struct SocksMachine: Sendable {
    /// The destination that the proxy is to connect to.
    package enum Destination: Hashable, Sendable {
        /// A host name, which the proxy resolves.
        case name(String)
        /// An address, which the proxy need not resolve.
        case ip(IPAddress)
    }

    /// What the driver has to do after the machine has read received bytes.
    package enum Step: Hashable, Sendable {
        /// All bytes were consumed. Pass the next bytes of the proxy when they arrive.
        case needsMore
        /// All bytes were consumed. Send these bytes, then pass the proxy's next ones.
        case send([UInt8])
        /// The tunnel is established. The first `consumed` bytes were the proxy's; the others are the destination's.
        case established(consumed: Int)
    }

    /// The states; an arrow names the states that may follow.
    private enum State: Hashable {
        case ready  // → choosing
        /// The methods have been sent; the proxy chooses one.
        case choosing(Greeting)  // → authenticating, requesting, failed
        /// The credentials have been sent. `version` is the first byte of the proxy's answer; nil until it has arrived.
        case authenticating(version: UInt8?)  // → requesting, failed
        /// The request has been sent; the proxy replies.
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
        /// The address and the port, of which this many bytes have not arrived. The machine does not need them.
        case skipping(Int)
    }

    // The codes of the authentication methods (RFC 1928 §3).
    private static let noAuthentication: UInt8 = 0x00
    private static let userAndPassword: UInt8 = 0x02

    private let destination: Destination
    private let port: UInt16
    private let credentials: ProxyServer.Credentials?
    private var state = State.ready
    /// The number of bytes of the proxy that the machine has read.
    private var receivedCount = 0

    /// Creates the machine for one connection to a proxy.
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

    /// Returns the first bytes to send: the offered authentication methods. Called once.
    package mutating func start() -> [UInt8] {
        precondition(state == .ready, "a SOCKS conversation starts once")
        state = .choosing(.version)
        // The version 5, the number of methods, and the methods (RFC 1928 §3).
        return credentials == nil
            ? [5, 1, Self.noAuthentication] : [5, 2, Self.noAuthentication, Self.userAndPassword]
    }

    /// Reads bytes of the proxy. After an error, every further call throws the same error.
    package mutating func receive(_ bytes: Span<UInt8>) throws(SocksError) -> Step {
        for index in bytes.indices {
            let step = try readByte(bytes[index])
            receivedCount += 1
            switch step {
            case .needsMore:
                continue
            case .send(let answer):
                // The proxy must wait for each message of the client. Otherwise it could reply that the tunnel is established
                // before it knows the destination.
                guard index == bytes.count - 1 else {
                    throw fail(.unsolicitedBytes(offset: receivedCount))
                }
                return .send(answer)
            case .established:
                return .established(consumed: index + 1)
            }
        }
        // Reached after an error only if the input is empty: otherwise `readByte` has thrown the error.
        if case .failed(let error) = state { throw error }
        return .needsMore
    }

    /// Returns the error for the proxy's end of stream.
    package mutating func receivedEnd() -> SocksError {
        if case .failed(let error) = state { return error }
        let error = SocksError.closed(received: receivedCount)
        state = .failed(error)
        return error
    }

    /// Reads one byte of the proxy. In the result `established`, the count is 0; `receive` computes it.
    private mutating func readByte(_ byte: UInt8) throws(SocksError) -> Step {
        switch state {
        case .choosing(.version):
            guard byte == 5 else { throw fail(.unexpectedVersion(byte, offset: receivedCount)) }
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
            guard byte == 1 || byte == 5 else { throw fail(.unexpectedVersion(byte, offset: receivedCount)) }
            state = .authenticating(version: byte)
            return .needsMore
        case .authenticating(_?):
            // The status; 0 means success (RFC 1929 §2).
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
            guard byte == 5 else { throw fail(.unexpectedVersion(byte, offset: receivedCount)) }
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

    /// Records the error, which every further call throws, and returns it.
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
