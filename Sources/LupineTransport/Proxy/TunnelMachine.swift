// SPDX-License-Identifier: MIT

public import LupineHTTP

/// The reason why an HTTP proxy opened no tunnel.
public enum TunnelError: Error, Hashable, Sendable {
    /// The proxy answered 407. The head contains its challenges in Proxy-Authenticate.
    case authenticationRequired(ResponseHead)
    /// The proxy answered with any other final status outside 2xx.
    case refused(ResponseHead)
    /// The proxy's answer is not HTTP, exceeds a limit or is incomplete; or the request could not be encoded.
    case http(HTTPError)
    /// The user's name contains a colon, which Basic authentication cannot carry.
    case colonInUser
}

extension TunnelError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .authenticationRequired:
            "it wants a name and a password (407); see whether they are given, and right"
        case .refused(let head):
            "it answered \(head.status) \(Excerpt(head.reason)); see whether its rules allow this host and port"
        case .http(let error): "\(error)"
        case .colonInUser: "Basic authentication cannot carry a name with a colon in it"
        }
    }
}

/// The client's half of a CONNECT: asks an HTTP proxy for a tunnel to an authority (RFC 9110 §9.3.6).
///
/// It returns the request to send and consumes the proxy's bytes. The first request contains the credentials, as with curl,
/// because after a challenge the request would need a new connection. The machine does not read the content of a refusal; the
/// driver closes the connection.
package struct TunnelMachine {
    /// What the driver has to do after the machine has read received bytes.
    package enum Step: Hashable, Sendable {
        /// All bytes were consumed. Pass the next bytes of the proxy when they arrive.
        case needMore
        /// The tunnel is established. The first `consumed` bytes were the proxy's; the others are the destination's.
        case established(ResponseHead, consumed: Int)
    }

    /// The states; an arrow names the states that may follow.
    private enum State {
        case ready  // → awaitingHead, failed
        case awaitingHead  // → established, failed
        case established
        case failed(TunnelError)
    }

    /// The limits of the proxy's answer. They are lower than the limits of other responses, because the answer is small.
    package static var defaultLimits: ParserLimits {
        var limits = ParserLimits()
        limits.headBytes = 64 * 1024
        limits.lineBytes = 16 * 1024
        limits.interimHeads = 8
        return limits
    }

    private let authority: Authority
    private let credentials: ProxyServer.Credentials?
    private let authorization: String?
    private let fields: Fields
    private var codec: ClientCodec
    private var state = State.ready

    /// Creates the machine for a tunnel to `authority`. `fields` are further fields for the proxy, such as User-Agent; fields for
    /// the origin must not be among them. `authorization` is the value of Proxy-Authorization; nil to make it from `credentials`.
    package init(
        to authority: Authority, credentials: ProxyServer.Credentials? = nil, authorization: String? = nil,
        fields: Fields = Fields(), limits: ParserLimits = Self.defaultLimits
    ) {
        self.authority = authority
        self.credentials = credentials
        self.authorization = authorization
        self.fields = fields
        codec = ClientCodec(limits: limits)
    }

    /// Returns the request to send. Called once.
    package mutating func start() throws(TunnelError) -> [UInt8] {
        guard case .ready = state else { preconditionFailure("a tunnel is asked for once") }
        var authorization = authorization
        if authorization == nil, let credentials {
            authorization = credentials.basicAuthorization
            if authorization == nil { throw fail(.colonInUser) }
        }
        var output: [UInt8] = []
        do throws(HTTPError) {
            var fields = fields
            if let authorization { try fields.set(.proxyAuthorization, authorization) }
            try codec.send(
                RequestHead(method: .connect, target: .authority(authority), fields: fields), body: .none,
                into: &output)
        } catch { throw fail(.http(error)) }
        state = .awaitingHead
        return output
    }

    /// Reads bytes of the proxy. After an error, every further call throws the same error.
    package mutating func receive(_ bytes: Span<UInt8>) throws(TunnelError) -> Step {
        switch state {
        case .failed(let error): throw error
        case .ready, .established: preconditionFailure("no bytes are due")
        case .awaitingHead: break
        }
        var consumed = 0
        while true {
            let event: ResponseEvent
            do throws(HTTPError) {
                let (next, count) = try codec.next(bytes.extracting(consumed...))
                event = next
                consumed += count
            } catch { throw fail(.http(error)) }
            switch event {
            case .needMore:
                return .needMore
            case .interim:
                // Interim responses (1xx) of the proxy say nothing about the tunnel.
                continue
            // The framing is `handover` after a 2xx response to CONNECT: the bytes that follow are not HTTP.
            case .head(let head, framing: .handover, allowsReuse: _):
                state = .established
                return .established(head, consumed: consumed)
            case .head(let head, framing: _, allowsReuse: _):
                throw fail(head.status.code == 407 ? .authenticationRequired(head) : .refused(head))
            case .content, .end, .handover:
                preconditionFailure("nothing comes before a head, and nothing is asked for after it")
            }
        }
    }

    /// Returns the error for the proxy's end of stream.
    package mutating func receivedEnd() -> TunnelError {
        if case .failed(let error) = state { return error }
        // `peerClosed` throws the exact error. If it does not throw, the stream ended before the head, which is an error too; its
        // result is not needed then.
        do throws(HTTPError) {
            _ = try codec.peerClosed()
        } catch { return fail(.http(error)) }
        return fail(.http(.truncated(.beforeHead)))
    }

    /// Records the error, which every further call throws, and returns it.
    private mutating func fail(_ error: TunnelError) -> TunnelError {
        state = .failed(error)
        return error
    }
}
