// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The position up to which an event stream has been read. A `ServerSentEventsSerializer` updates it. If the position is also an
/// adapter of the request, each attempt asks the server to continue from there, with the field `Last-Event-ID` (WHATWG HTML
/// §9.2.4).
///
/// Use one position for the serializer of one handler of one request. Its identifier is that of the last event that the
/// serializer has read on the session's serialization queue. If that queue runs independently of the request queue, the session
/// may send the next attempt before the serializer has read all received events. The handler then receives the remaining events
/// twice. Can be used on any thread.
public final class EventStreamPosition: RequestAdapter, Sendable {
    private struct State: Sendable {
        var lastEventID: String
        var reconnectionTime: TimeInterval?
    }

    private let state: Protected<State>

    /// Creates a position after the event with this identifier, or at the beginning of the stream if the identifier is empty.
    public init(lastEventID: String = "") {
        state = Protected(State(lastEventID: lastEventID, reconnectionTime: nil))
    }

    /// The identifier of the last event that was read; empty when no event had one.
    public var lastEventID: String { state.read { $0.lastEventID } }

    /// The delay in seconds before a reconnection, as the stream has sent it; nil when it has not sent one.
    public var reconnectionTime: TimeInterval? { state.read { $0.reconnectionTime } }

    /// Sets `Last-Event-ID`, unless the identifier is empty or not a valid field value.
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(adapted(urlRequest)))
    }

    /// Returns the request with `Last-Event-ID`.
    func adapted(_ urlRequest: URLRequest) -> URLRequest {
        let identifier = lastEventID
        // RFC 9110 §5.5: a field value contains no control characters (below 0x20, and 0x7F) except the horizontal tab (0x09).
        let isFieldValue = identifier.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
        guard !identifier.isEmpty, isFieldValue else { return urlRequest }
        var request = urlRequest
        request.setValue(identifier, forHTTPHeaderField: "Last-Event-ID")
        return request
    }

    func setLastEventID(_ lastEventID: String) { state.write { $0.lastEventID = lastEventID } }

    func setReconnectionTime(_ seconds: TimeInterval) { state.write { $0.reconnectionTime = seconds } }
}
