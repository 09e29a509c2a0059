// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// The request of a hop in the form that the transport sends: head, origin, body and options. It is checked before a connection
/// is opened. `SentFields` makes the header fields.
struct SendingPlan: Sendable {
    let head: RequestHead
    let origin: Origin
    let options: ExchangeOptions
    let body: BodySource
    /// The length of the body in bytes; nil if unknown.
    let length: Int64?

    /// Creates the plan. Throws if the request cannot be sent.
    init(_ hop: HopRequest, _ settings: SessionSettings, _ engine: SessionEngine) throws(URLError) {
        let request = hop.request
        guard let url = request.url else {
            throw .loading(.unsupportedURL, url: nil, reason: "the request has no URL")
        }
        let method: LupineHTTP.Method
        do throws(URLRequestError) { method = try request.checkedMethod() } catch {
            throw .loading(.badURL, url: url, underlying: error)
        }
        let body = try BodySource(hop.body, of: request)
        // GET must not have a body (U-7.1). This is checked only for the network: other hops accept such a request.
        guard method != .get || body.isNone else {
            throw .loading(
                .dataLengthExceedsMaximum, url: url, reason: "resource exceeds maximum size")
        }
        let length = Self.length(of: body, request)
        let route: SessionEngine.Route
        do throws(TransportError) {
            // The engine calls the closure if it has not cached the fields of this server.
            route = try engine.route(
                for: url, isWebSocket: hop.isUpgrade,
                tunnelAuthorizer: hop.tunnelAuthorizer, verifier: hop.verifier,
                mayIdentify: hop.usesClientIdentity
            ) { host in SentFields.sessionFields(to: host, settings) }
        } catch { throw URLError(error, url: url) }
        let fields: Fields
        do throws(URLRequestError) {
            fields = try SentFields(hop, hasBody: !body.isNone, isPost: method == .post).fields(
                over: route, settings)
        } catch { throw .loading(.badURL, url: url, underlying: error) }
        options = Self.options(hop, settings, fields, body, length)
        // The target of OPTIONS is `*` if the URL names the server alone.
        head = RequestHead(
            method: method,
            target: method == .options && route.namesServerAlone ? .asterisk : .origin(route.target),
            fields: fields)
        origin = route.origin
        self.body = body
        self.length = length
    }

    // MARK: body

    /// Returns the length of the body in bytes; for a stream, the value of the request's `Content-Length`. Returns nil if it is
    /// unknown.
    private static func length(of body: BodySource, _ request: URLRequest) -> Int64? {
        switch body {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let file): file.count
        case .stream, .suppliedByClient:
            request.value(forHTTPHeaderField: "Content-Length").flatMap { value in
                // `Int64` also accepts a sign, which the field must not have.
                value.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int64(value) : nil
            }
        }
    }

    /// Returns the body in the transport's form.
    ///
    /// - Parameter stream: The reader of a body that is a stream; nil for other bodies.
    func content(_ stream: BodyStreamSource?) -> OutgoingContent {
        switch body {
        case .none: .none
        case .data(let data): .region(DataRegion(data))
        case .file(let file): .file(file)
        case .stream, .suppliedByClient: stream.map { .stream($0, length: length) } ?? .none
        }
    }

    // MARK: options

    /// Returns the time-outs, rates and other options of the exchange.
    private static func options(
        _ hop: HopRequest, _ settings: SessionSettings, _ fields: Fields, _ body: BodySource, _ length: Int64?
    ) -> ExchangeOptions {
        var options = ExchangeOptions(
            timeouts: TransferTimeouts(
                idle: settings.idleTimeout(for: hop.request), whole: hop.wholeTimeout),
            receiveRate: settings.lupine.receiveRate, sendRate: settings.lupine.sendRate,
            verifier: hop.verifier
        )
        // A final response stops the sending of the body, which the server no longer needs.
        options.stopsSendingWhenAnswered = true
        options.isWebSocket = hop.isUpgrade
        let expectsContinue = fields[.expect].map { $0.lowercased() == "100-continue" } ?? false
        // The load waits for 100 (Continue) before it sends a long body, or if the program has set `Expect`. A body of unknown
        // length counts as long.
        let isLong = settings.lupine.expectContinueThreshold.map { (length ?? .max) >= $0 } ?? false
        if !body.isNone, expectsContinue || isLong {
            options.continueTimeout = Interval(settings.lupine.continueTimeout)
        }
        return options
    }
}
