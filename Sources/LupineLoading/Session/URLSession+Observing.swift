// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineHTTP
internal import LupineTransport

/// What goes out, and when observers have heard of it.
extension URLSession {
    /// The head with which a data task for `request` would begin, for who wants to see it without sending anything: the request
    /// line, the header fields in their order and the empty line. It is one of HTTP/2, as observers have it, where the session
    /// speaks nothing else; where an origin chooses, it is one of HTTP/1.1.
    ///
    /// It has what the session adds: its additional header fields, cookies, and the fields that every request has. Answers to
    /// challenges are not in it, nor what only a connection decides, such as the address as an HTTP proxy wants it. Any thread.
    ///
    /// - Parameters:
    ///   - request: An `http` or `https` request.
    ///   - file: A file that is sent as the body, in the place of the request's.
    /// - Returns: The octets.
    /// - Throws: The `URLError` with which such a task would end before anything is connected.
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

    /// Calls the handler once the session's transfer observers have been told of all that has happened so far; so a program
    /// that prints behind an observer, or is about to end, knows that nothing is missing.
    ///
    /// - Parameter handler: Called once, on the thread of the observers; at once, on the caller's, where there are none.
    public func whenObserversHaveHeard(_ handler: @escaping @Sendable () -> Void) {
        guard let reporter = core.context.engine.reporter else { return handler() }
        reporter.whenTold(handler)
    }
}
