// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// What one transaction over the network is to send: fixed when it is made.
struct HopRequest: Sendable {
    /// Complete: additional header fields, cookies, `Authorization` and a cache's validators are in it.
    var request: URLRequest
    /// Where the body comes from.
    var body: TaskOrder.Body
    /// The connection is to leave HTTP: 101 is an answer, and the scheme may be a web socket's.
    var isUpgrade = false
    /// Whether content codings may be undone; not where a part of a coded body is continued.
    var mayDecode = true
    /// What is left of the time for the whole resource; nil for no limit.
    var wholeTimeout: Interval?
    /// Orders hops that wait for a connection: 0...1.
    var priority: Float = 0.5
    /// Whose connections it prefers.
    var loop: EventLoop?
    /// Whether a server that asks may learn who the session is.
    var usesClientIdentity = true
    /// Who we are to the proxy, in the place of what the configuration says.
    var proxyCredentials: ProxyServer.Credentials?
    /// For a proxy that reads the request: the value of `Proxy-Authorization`.
    var proxyAuthorization: String?
    /// Answers a proxy that is asked for a tunnel.
    var tunnelAuthorizer: TunnelAuthorizer?
    /// Answers for the task when a connection is opened for the hop; nil where nobody wants to be asked.
    var taskTrust: TaskTrust?
    /// What observers are told of where it goes to the network; nil where there are none.
    var place: TransferPlace?

    /// A request and its body, the rest by default.
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
