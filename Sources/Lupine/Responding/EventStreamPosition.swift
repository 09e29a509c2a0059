// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// How far an event stream has been read: what a `ServerSentEventsSerializer` keeps up to date and, as the request's
/// adapter, what asks the server to go on from there with `Last-Event-ID` on every attempt (WHATWG HTML §9.2.4).
///
/// One position belongs to one stream: give it to the serializer of one handler of one request. The identifier is that of
/// the last event that was read, on the session's serialization queue; a session whose queues are independent of each
/// other may be asking again while events are being read, and then gets those twice. Any thread may use it.
public final class EventStreamPosition: RequestAdapter, Sendable {
    private struct Reached: Sendable {
        var lastEventID: String
        var reconnectionTime: TimeInterval?
    }

    private let reached: Protected<Reached>

    /// A position after the event of that identifier; at the beginning when it is empty.
    public init(lastEventID: String = "") {
        reached = Protected(Reached(lastEventID: lastEventID, reconnectionTime: nil))
    }

    /// The identifier of the last event that was read; empty when none was named.
    public var lastEventID: String { reached.read { $0.lastEventID } }

    /// How long the stream asks clients to wait before they connect again, in seconds; nil when it has not asked.
    public var reconnectionTime: TimeInterval? { reached.read { $0.reconnectionTime } }

    /// Sets `Last-Event-ID`, unless no event has been named or the identifier cannot stand in a header.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(adapted(urlRequest)))
    }

    func adapted(_ urlRequest: URLRequest) -> URLRequest {
        let identifier = lastEventID
        let canStand = identifier.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
        guard !identifier.isEmpty, canStand else { return urlRequest }
        var request = urlRequest
        request.setValue(identifier, forHTTPHeaderField: "Last-Event-ID")
        return request
    }

    func reach(_ lastEventID: String) { reached.write { $0.lastEventID = lastEventID } }

    func wait(_ seconds: TimeInterval) { reached.write { $0.reconnectionTime = seconds } }
}
