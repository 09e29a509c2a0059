// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The position up to which an event stream has been read. A `ServerSentEventsSerializer` updates it; used as the request's
/// adapter, it asks the server on every attempt to continue from there with `Last-Event-ID` (WHATWG HTML §9.2.4).
///
/// Use one position for the serializer of one handler of one request. The identifier is that of the last event read on the
/// session's serialization queue. A session whose queues run independently may send the next attempt while events are still
/// being read, and then receives those events twice. Can be used on any thread.
public final class EventStreamPosition: RequestAdapter, Sendable {
    private struct Reached: Sendable {
        var lastEventID: String
        var reconnectionTime: TimeInterval?
    }

    private let reached: Protected<Reached>

    /// Creates a position after the event with that identifier; at the beginning if it is empty.
    public init(lastEventID: String = "") {
        reached = Protected(Reached(lastEventID: lastEventID, reconnectionTime: nil))
    }

    /// The identifier of the last event that was read; empty when no event had one.
    public var lastEventID: String { reached.read { $0.lastEventID } }

    /// The delay in seconds that the stream asks clients to wait before they reconnect; nil when it has not sent one.
    public var reconnectionTime: TimeInterval? { reached.read { $0.reconnectionTime } }

    /// Sets `Last-Event-ID`, unless there is no identifier or it is not a valid field value.
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
