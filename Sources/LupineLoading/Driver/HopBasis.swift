// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What the hops of a load are made from. A redirect, an answered challenge and a repetition change it between two hops; nothing
/// else does.
struct HopBasis: Sendable {
    /// The request as the program or a redirect specifies it, without the fields that the driver adds.
    var request: URLRequest
    /// The source of the body.
    private(set) var body: TaskDefinition.Body
    /// The redirects that were followed.
    private(set) var redirects = FollowedRedirects()
    /// The answers to challenges; nil until a challenge arrives, or the load may know an answer in advance.
    var authentication: LoadAuthentication?
    /// The body streams that have been sent in full or in part. The driver sends no stream twice.
    private var sentStreams: Set<ObjectIdentifier> = []
    /// Whether the next hop must not use the cache entry, because the 304 that should have confirmed the entry was about another
    /// version of the resource.
    private var ignoresCacheEntry = false
    /// The last transfer that was reported to transfer observers, and the number of redirects before it; nil without observers.
    private var lastTransfer: (id: TransferID, redirectCount: Int)?

    /// Creates the basis of the first hop.
    init(_ definition: TaskDefinition) {
        request = definition.request
        body = definition.body
    }

    /// Whether a body stream was sent before. The next hop then asks the program's stream for its status.
    var hasSentStream: Bool { !sentStreams.isEmpty }

    /// Follows a redirect.
    mutating func follow(_ redirect: ApprovedRedirect) {
        redirects.add(redirect)
        ignoresCacheEntry = false
        request = redirect.request
        // The next hop sends the body of the new request instead of the task's file or data.
        if !redirect.keepsBody { body = .request }
    }

    /// Changes the request for a repetition that a response has made necessary.
    mutating func repeatRequest(_ repetition: ResponseEvaluation.Repetition) {
        switch repetition {
        case .unchanged: break
        case .withoutCacheEntry: ignoresCacheEntry = true
        case .ofWholeResource:
            request.setValue(nil, forHTTPHeaderField: "Range")
            request.setValue(nil, forHTTPHeaderField: "If-Range")
        }
    }

    /// The reason if the request's body stream cannot be sent because it has been read before (U-10.7); otherwise nil.
    var reasonStreamCannotBeSent: String? {
        guard case .request = body, case .stream(let stream) = request.contents.value.body,
            sentStreams.contains(ObjectIdentifier(stream.value)), stream.value.streamStatus != .notOpen
        else { return nil }
        return "the body stream was sent already"
    }

    /// Records that the request's body, if it is a stream, is sent.
    mutating func recordSending(of request: URLRequest) {
        if case .stream(let stream) = request.contents.value.body {
            sentStreams.insert(ObjectIdentifier(stream.value))
        }
    }

    /// Whether the next hop may be answered by a cache entry.
    var mayUseCacheEntry: Bool { !ignoresCacheEntry }

    /// Returns a new id for the hop that is being prepared, with the reason for the hop. Transfer observers receive both.
    func newTransfer(of taskIdentifier: Int?) -> TransferIdentity {
        let cause: TransferCause =
            switch lastTransfer {
            case nil: .request
            case let last? where last.redirectCount < redirects.count: .redirect(after: last.id)
            case let last?: .repetition(after: last.id)
            }
        return TransferIdentity(cause, taskIdentifier: taskIdentifier)
    }

    /// Records the transfer as the last one that is reported to observers.
    mutating func record(_ transfer: TransferIdentity) {
        lastTransfer = (transfer.id, redirects.count)
    }
}
