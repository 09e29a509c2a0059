// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Shows what would be sent, and tells when observers are up to date.
extension URLSession {
    /// Returns the head that a data task for `request` would begin with, without sending anything: the request line, the header
    /// fields in their order and the empty line. If the session uses HTTP/2 only, it is a head of HTTP/2 in the form that
    /// observers get; if an origin chooses the version, it is a head of HTTP/1.1.
    ///
    /// It includes what the session adds: its additional header fields, cookies, and the fields that every request has. It does
    /// not include answers to challenges, nor what depends on the connection, such as the form of the URL that an HTTP proxy
    /// needs. Any thread.
    ///
    /// - Parameters:
    ///   - request: An `http` or `https` request.
    ///   - file: A file that is sent as the body instead of the request's.
    /// - Returns: The octets of the head.
    /// - Throws: The `URLError` with which such a task would fail before it connects.
    public func requestHead(for request: URLRequest, bodyFrom file: URL? = nil) throws -> Data {
        let context = core.context
        let body: TaskOrder.Body = file.map { .file($0) } ?? .request
        let assembly = HopAssembly(
            request: request, kind: .data, body: body, move: .withinOrigin, settings: context.settings)
        let hop = HopRequest(
            request: try assembly.assembled(), body: body, mayDecode: context.settings.lupine.decodesContent)
        let plan = try SendingPlan(hop, context.settings, context.engine)
        let announcement: OutgoingBody =
            plan.body.isNone ? .none : plan.length.map { .known($0) } ?? .unknown
        do throws(HTTPError) {
            return Data(try Self.head(of: plan, announcement, context.settings.lupine))
        } catch { throw URLError.loading(.badURL, url: request.url, underlying: error) }
    }

    private static func head(
        of plan: SendingPlan, _ body: OutgoingBody, _ options: URLSessionConfiguration.LupineOptions
    ) throws(HTTPError) -> [UInt8] {
        let expectsContinue = plan.options.continueTimeout != nil
        var head: [UInt8] = []
        guard options.isHTTP2Alone else {
            var codec = ClientCodec()
            try codec.send(plan.head, body: body, expectContinue: expectsContinue, into: &head)
            return head
        }
        var request = plan.head
        if expectsContinue, body != .none, body != .known(0) {
            try request.fields.set(.expect, "100-continue")
        }
        return try request.linesOverHTTP2(
            scheme: plan.origin.scheme == .https ? "https" : "http", body: body)
    }

    /// Calls the handler once the session's transfer observers have been told of everything that has happened so far. A program
    /// that prints after an observer, or is about to exit, then misses nothing.
    ///
    /// - Parameter handler: Called once, on the thread of the observers; without observers at once, on the caller's thread.
    public func whenObserversHaveHeard(_ handler: @escaping @Sendable () -> Void) {
        guard let reporter = core.context.engine.reporter else { return handler() }
        reporter.whenDelivered(handler)
    }
}
