// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The request and options of one transaction over the network; fixed when the transaction is created.
struct HopRequest: Sendable {
    /// The complete request, including additional header fields, cookies, `Authorization` and a cache's validators.
    var request: URLRequest
    /// The source of the body.
    var body: TaskOrder.Body
    /// Whether the connection is to switch from HTTP: 101 is then a final response, and the scheme may be a web socket's.
    var isUpgrade = false
    /// Whether content codings may be decoded; false when a part of a coded body is continued.
    var mayDecode = true
    /// The time left for the whole resource; nil for no limit.
    var wholeTimeout: Interval?
    /// The priority, 0...1, among transactions that wait for a connection.
    var priority: Float = 0.5
    /// The event loop whose connections are preferred.
    var loop: EventLoop?
    /// Whether the session's client certificate may be sent to a server that asks for one.
    var usesClientIdentity = true
    /// Credentials for the proxy that replace those of the configuration.
    var proxyCredentials: ProxyServer.Credentials?
    /// The value of `Proxy-Authorization`, for a proxy that reads the request.
    var proxyAuthorization: String?
    /// Answers the challenges of a proxy that is asked for a tunnel.
    var tunnelAuthorizer: TunnelAuthorizer?
    /// Answers for the task when a connection is opened for the transaction; nil if the task's delegate takes no challenges.
    var taskTrust: TaskTrust?
    /// What transfer observers are told about the transaction when it uses the network; nil without observers.
    var transfer: TransferIdentity?

    /// A request and its body, with defaults for the rest.
    init(
        request: URLRequest, body: TaskOrder.Body = .request, isUpgrade: Bool = false, mayDecode: Bool = true,
        wholeTimeout: Interval? = nil, priority: Float = 0.5, usesClientIdentity: Bool = true,
        tunnelAuthorizer: TunnelAuthorizer? = nil
    ) {
        self.request = request
        self.body = body
        self.isUpgrade = isUpgrade
        self.mayDecode = mayDecode
        self.wholeTimeout = wholeTimeout
        self.priority = priority
        self.usesClientIdentity = usesClientIdentity
        self.tunnelAuthorizer = tunnelAuthorizer
    }
}
