// SPDX-License-Identifier: MIT

public import Lupine
public import LupineLoading
internal import LupineTransport

/// An object that creates sessions for a test: a `TestOrigin`, `Stubs` or a `Recorder`. Not for conformance by programs.
public protocol SessionSource: AnyObject, Sendable {
    /// A new configuration for sessions of this source: for a `URLSession`, or for a `Session` that the test creates itself.
    var configuration: URLSessionConfiguration { get }
    /// Retains the sessions that `session` creates; not intended for tests.
    var shelf: SessionShelf { get }
}

extension SessionSource {
    /// Returns a new session with this source's configuration. The source retains it.
    ///
    /// - Parameters:
    ///   - interceptor: Adapts and retries every request.
    ///   - redirectHandler: Decides about redirects. Without a handler (nil), the session follows them.
    ///   - eventMonitors: Receive all events of the session.
    public func session(
        interceptor: (any RequestInterceptor)? = nil, redirectHandler: (any RedirectHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) -> Session {
        shelf.retaining(
            Session(
                configuration: configuration, interceptor: interceptor, redirectHandler: redirectHandler,
                eventMonitors: eventMonitors))
    }
}
