// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Returns request heads without sending them, and waits for transfer observers.
extension URLSession {
    /// Returns the head of the first request that a data task would send, without sending it: the request line, the header fields
    /// in their order and the empty line. If the session uses HTTP/2 only, the head is one of HTTP/2 in the form that observers
    /// get; otherwise it is one of HTTP/1.1.
    ///
    /// The head includes what the session adds: its additional header fields, cookies and default fields. It does not include
    /// the fields that answer challenges, or what depends on the connection, such as the form of the URL for an HTTP proxy. May
    /// be called on any thread.
    ///
    /// - Parameters:
    ///   - request: An `http` or `https` request.
    ///   - file: A file that would be sent as the body instead of the request's body.
    /// - Returns: The octets of the head.
    /// - Throws: The `URLError` with which the data task would fail before it connects.
    public func requestHead(for request: URLRequest, bodyFrom file: URL? = nil) throws -> Data {
        let context = core.context
        let body: TaskDefinition.Body = file.map { .file($0) } ?? .request
        // Prepares the request as a data task does before it connects. `withinOrigin` means that no redirect to another origin
        // has removed fields.
        let assembly = HopAssembly(
            request: request, kind: .data, body: body, move: .withinOrigin, settings: context.settings)
        let hop = HopRequest(
            request: try assembly.assembled(), body: body, mayDecode: context.settings.lupine.decodesContent)
        let plan = try SendingPlan(hop, context.settings, context.engine)
        // What the head announces about the body.
        let announcement: OutgoingBody
        if plan.body.isNone {
            announcement = .none
        } else if let length = plan.length {
            announcement = .known(length)
        } else {
            announcement = .unknown
        }
        do throws(HTTPError) {
            return Data(try Self.head(of: plan, announcement, context.settings.lupine))
        } catch { throw URLError.loading(.badURL, url: request.url, underlying: error) }
    }

    /// Returns the octets of a request head.
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
        // `ClientCodec` adds this field itself. For HTTP/2 it is added here, on the same condition: that there is content.
        if expectsContinue, body != .none, body != .known(0) {
            try request.fields.set(.expect, "100-continue")
        }
        return try request.linesOverHTTP2(
            scheme: plan.origin.scheme == .https ? "https" : "http", body: body)
    }

    /// Calls the handler when the session's transfer observers have received all events up to now. A program calls this before it
    /// exits, or before it prints after an observer's output, so that it misses no event.
    ///
    /// - Parameter handler: Called once, on the thread of the observers; if there are none, on the caller's thread before this
    ///   returns.
    public func whenObserversHaveHeard(_ handler: @escaping @Sendable () -> Void) {
        guard let reporter = core.context.engine.reporter else { return handler() }
        reporter.whenDelivered(handler)
    }
}
