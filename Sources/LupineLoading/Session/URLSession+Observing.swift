// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineHTTP
internal import LupineTransport

/// What goes out, and when observers have heard of it.
extension URLSession {
    /// The head with which a data task for `request` would begin, for who wants to see it without sending anything: the request
    /// line, the header fields in their order and the empty line.
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
        var head: [UInt8] = []
        var codec = ClientCodec()
        do throws(HTTPError) {
            try codec.send(
                plan.head, body: announcement, expectContinue: plan.options.continueTimeout != nil,
                into: &head)
        } catch { throw URLError.loading(.badURL, url: request.url, underlying: error) }
        return Data(head)
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
