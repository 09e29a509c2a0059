// SPDX-License-Identifier: MIT

/// Receives the events of every transfer of a client or a session: the start, a connection opened for it, a connection leased to
/// it, the head of the response, and the end.
///
/// A transfer is one request sent to the network, and its response. All events of a transfer have its identifier.
///
/// The request after a redirect is another transfer, and so is a request that is sent again with the answer to a challenge;
/// `TransferStart.cause` names the previous transfer. A retry by the layers above is a new transfer too. If the transport itself
/// sends a request again, because a reused connection was lost, that is the same transfer: a second connection is leased to it.
///
/// The events of one transfer come in order: the start, then dial, lease and head as far as they occur, then the end. For every
/// start there is exactly one end, whatever happens. Responses that need no network, from a cache or for a `file:` or `data:`
/// URL, are not transfers; neither are requests that could not be passed to the transport.
///
/// Each client or session delivers its events one after the other on a separate thread, which starts with the first event. It
/// never calls an observer on an event loop or while it holds a lock. So an observer may block: it delays only later events,
/// which wait in memory. If several clients or sessions share an observer, they may call it concurrently. The values contain the
/// times of the events, because the calls come a little later.
///
/// Observers are set in `HTTPClient.Configuration.transferObservers` or
/// `URLSessionConfiguration.lupine.transferObservers`. Each method does nothing by default.
public protocol TransferObserver: Sendable {
    /// A request was passed to the transport. Called first for each transfer.
    func transfer(_ id: TransferID, didStart start: TransferStart)
    /// A connection was opened, and this transfer is its first. Not called if the transfer uses a pooled connection, or if no
    /// connection could be opened; in that case the end has the error.
    func transfer(_ id: TransferID, didDial dial: TransferDial)
    /// A connection was leased to the transfer, and the request is sent.
    func transfer(_ id: TransferID, didLease lease: TransferLease)
    /// An HTTP/2 event occurred that is not part of a message. Called any number of times between a lease and the end.
    func transfer(_ id: TransferID, didHear notice: HTTP2Notice)
    /// The final head of the response was received.
    func transfer(_ id: TransferID, didReceive head: TransferHead)
    /// The transfer has ended. Called last, once for each transfer.
    func transfer(_ id: TransferID, didEnd end: TransferEnd)
}

extension TransferObserver {
    /// Does nothing.
    public func transfer(_ id: TransferID, didStart start: TransferStart) {}
    /// Does nothing.
    public func transfer(_ id: TransferID, didDial dial: TransferDial) {}
    /// Does nothing.
    public func transfer(_ id: TransferID, didLease lease: TransferLease) {}
    /// Does nothing.
    public func transfer(_ id: TransferID, didHear notice: HTTP2Notice) {}
    /// Does nothing.
    public func transfer(_ id: TransferID, didReceive head: TransferHead) {}
    /// Does nothing.
    public func transfer(_ id: TransferID, didEnd end: TransferEnd) {}
}
