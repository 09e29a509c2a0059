// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The request of one hop over the network, with its options. They do not change after the hop was created. A class, so that
/// passing the value on costs one retain.
final class HopRequest: Sendable {
    /// The complete request, including the session's additional header fields, cookies, `Authorization` and conditional fields of
    /// the cache.
    let request: URLRequest
    /// The source of the body.
    let body: TaskDefinition.Body
    /// Whether the connection is to switch from HTTP to another protocol. A 101 is then a final response, and the scheme may be
    /// `ws` or `wss`.
    let isUpgrade: Bool
    /// Whether content codings may be decoded. False for a resumed download, whose response is only the rest of the content
    /// (U-9.11).
    let mayDecode: Bool
    /// The rest of the resource time-out, which limits the whole load; nil for no limit.
    let wholeTimeout: Interval?
    /// The priority, 0...1, among hops that wait for a connection.
    let priority: Float
    /// The event loop whose connections are preferred; nil for none.
    let loop: EventLoop?
    /// Whether the session's client certificate may be sent to a server that asks for one.
    let usesClientIdentity: Bool
    /// The value of `Proxy-Authorization`, for a proxy that reads the request; nil for none.
    let proxyAuthorization: String?
    /// Answers the challenges of a proxy that has been asked for a tunnel; nil if there is none.
    let tunnelAuthorizer: TunnelAuthorizer?
    /// Passes the challenges of the hop's connection to the task's delegate; nil if no delegate answers challenges.
    let verifier: TaskPeerVerifier?
    /// The id of the hop and the reason for it, which transfer observers receive; nil without observers.
    let transfer: TransferIdentity?

    /// Creates a request with its body and options.
    init(
        request: URLRequest, body: TaskDefinition.Body = .request, isUpgrade: Bool = false,
        mayDecode: Bool = true,
        wholeTimeout: Interval? = nil, priority: Float = 0.5, loop: EventLoop? = nil,
        usesClientIdentity: Bool = true, proxyAuthorization: String? = nil,
        tunnelAuthorizer: TunnelAuthorizer? = nil, verifier: TaskPeerVerifier? = nil,
        transfer: TransferIdentity? = nil
    ) {
        self.request = request
        self.body = body
        self.isUpgrade = isUpgrade
        self.mayDecode = mayDecode
        self.wholeTimeout = wholeTimeout
        self.priority = priority
        self.loop = loop
        self.usesClientIdentity = usesClientIdentity
        self.proxyAuthorization = proxyAuthorization
        self.tunnelAuthorizer = tunnelAuthorizer
        self.verifier = verifier
        self.transfer = transfer
    }
}
