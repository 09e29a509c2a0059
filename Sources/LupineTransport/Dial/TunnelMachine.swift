// SPDX-License-Identifier: MIT

public import LupineHTTP

/// Why an HTTP proxy opened no tunnel.
public enum TunnelError: Error, Hashable, Sendable {
    /// 407: the head carries the proxy's challenges in Proxy-Authenticate.
    case authenticationRequired(ResponseHead)
    /// Any other final status outside 2xx.
    case refused(ResponseHead)
    /// The proxy's answer is no HTTP, exceeds a limit or was cut short; or what was to be sent is not sendable.
    case http(HTTPError)
    /// The user's name has a colon in it, which Basic authentication cannot carry.
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
/// Bytes in, bytes out. Credentials are sent with the first request, as curl does: a proxy that needed a challenge
/// first would cost a connection. Content of a refusal is not read; the connection is to be closed.
package struct TunnelMachine {
    /// What follows from bytes received.
    package enum Step: Hashable, Sendable {
        /// All bytes were taken; more are due.
        case needMore
        /// The tunnel stands. `consumed` of the bytes were the proxy's; the rest is the destination's.
        case established(ResponseHead, consumed: Int)
    }

    private enum State {
        case ready  // → awaitingHead
        case awaitingHead  // → established, failed
        case established
        case failed(TunnelError)
    }

    /// A proxy's answer is small; what it may send before the tunnel stands is bounded more tightly than a response.
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

    /// A tunnel to `authority`. `fields` is what else goes to the proxy, such as User-Agent; nothing that is meant
    /// for the origin. `authorization` is the value of Proxy-Authorization where it is not to be made of `credentials`.
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

    /// The request to send. Called once.
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

    /// Takes what the proxy sent. Once it has thrown it throws the same error again.
    package mutating func receive(_ bytes: Span<UInt8>) throws(TunnelError) -> Step {
        switch state {
        case .failed(let error): throw error
        case .ready, .established: preconditionFailure("no bytes are due")
        case .awaitingHead: break
        }
        var consumed = 0
        while true {
            let event: WireEvent
            do throws(HTTPError) {
                let (next, count) = try codec.next(bytes.extracting(consumed...))
                event = next
                consumed += count
            } catch { throw fail(.http(error)) }
            switch event {
            case .needMore:
                return .needMore
            case .interim:
                continue
            case .head(let head, framing: .handover, keepAlive: _):
                state = .established
                return .established(head, consumed: consumed)
            case .head(let head, framing: _, keepAlive: _):
                throw fail(head.status.code == 407 ? .authenticationRequired(head) : .refused(head))
            case .content, .end, .handover:
                preconditionFailure("nothing comes before a head, and nothing is asked for after it")
            }
        }
    }

    /// The proxy has closed its side: the error to report.
    package mutating func receivedEnd() -> TunnelError {
        if case .failed(let error) = state { return error }
        do throws(HTTPError) {
            _ = try codec.peerClosed()
        } catch { return fail(.http(error)) }
        return fail(.http(.truncated(.beforeHead)))
    }

    private mutating func fail(_ error: TunnelError) -> TunnelError {
        state = .failed(error)
        return error
    }
}
