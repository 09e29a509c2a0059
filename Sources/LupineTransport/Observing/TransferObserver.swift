// SPDX-License-Identifier: MIT

/// Is told of every transfer of a client or a session: when it starts, when a connection is opened for it, when it is
/// lent one, when the head of its response comes, and when it ends.
///
/// A transfer is one request that goes out to the network, and what comes back. Each has an identity of its own, which
/// all its events carry. A redirect that is followed is another transfer, and so is a request that is sent again with
/// the answer to a challenge; `TransferStart.cause` names the one before. A retry of the layers above is a new request,
/// and so a new transfer. Only what the transport itself sends again, because a kept connection had died, stays the same
/// transfer: it is lent a second connection.
///
/// The events of one transfer come in order: the start, then dial, lease and head as far as there are any, then the end.
/// For every start there is exactly one end, whatever happens. What the network is not asked for is no transfer: answers
/// of a cache, `file:` and `data:` URLs, and requests that could not be sent at all.
///
/// The events of one client or session come one after the other, on a thread of its own, which starts with the first
/// event; never on an event loop and never under a lock. So an observer may block, and then holds up nothing but later
/// events, which wait in memory. An observer that several clients or sessions have is called by each of them, perhaps at the same
/// time. The values say when things happened, because they are told a little later.
///
/// Set in `HTTPClient.Configuration.transferObservers` or `URLSessionConfiguration.lupine.transferObservers`. Each
/// method does nothing by default.
public protocol TransferObserver: Sendable {
    /// A request was handed to the transport. Called first for each transfer.
    func transfer(_ id: TransferID, didStart start: TransferStart)
    /// A connection was opened, and the transfer is the first that it carries. Not called where a kept one is used, nor where
    /// none could be opened: the end has that error.
    func transfer(_ id: TransferID, didDial dial: TransferDial)
    /// A connection was lent to the transfer, and the request goes out.
    func transfer(_ id: TransferID, didLease lease: TransferLease)
    /// HTTP/2 says something beside the messages. Any number of times between a lease and the end.
    func transfer(_ id: TransferID, didHear notice: HTTP2Notice)
    /// The final head of the response has come.
    func transfer(_ id: TransferID, didReceive head: TransferHead)
    /// The transfer is over. Called last, once for each transfer.
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
