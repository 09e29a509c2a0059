// SPDX-License-Identifier: MIT

public import Lupine
public import LupineLoading
internal import LupineTransport

/// What makes sessions for a test: a `TestOrigin`, `Stubs` or a `Recorder`. Programs add no others.
public protocol SessionSource: AnyObject, Sendable {
    /// A new configuration for sessions of this source: for a `URLSession`, or for a `Session` that is made by hand.
    var configuration: URLSessionConfiguration { get }
    /// Keeps the sessions that `session` makes; of no use to a test.
    var shelf: SessionShelf { get }
}

extension SessionSource {
    /// A new session of this source's configuration. It lives as long as the source at least, although nobody else holds it.
    ///
    /// - Parameters:
    ///   - interceptor: Adapts and retries every request.
    ///   - redirectHandler: Decides about redirects; nil follows them.
    ///   - eventMonitors: Hear of everything.
    public func session(
        interceptor: (any RequestInterceptor)? = nil, redirectHandler: (any RedirectHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) -> Session {
        shelf.keeping(
            Session(
                configuration: configuration, interceptor: interceptor, redirectHandler: redirectHandler,
                eventMonitors: eventMonitors))
    }
}
