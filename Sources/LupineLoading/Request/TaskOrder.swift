// SPDX-License-Identifier: MIT

import Foundation

/// The request and options of a task; fixed when the task is created.
struct TaskOrder: Sendable {
    /// The kind of task; some rules depend on it.
    enum Kind: Hashable, Sendable { case data, upload, download, webSocket }
    /// The source of the request's body.
    enum Body: Sendable {
        /// From the request: its `httpBody` or `httpBodyStream`.
        case request
        /// An upload task's data, which replaces any body of the request's.
        case data(Data)
        /// An upload task's file.
        case file(URL)
        /// An upload task's stream, which the delegate supplies each time it is needed (U-7.5).
        case streamed
    }

    let kind: Kind
    let request: URLRequest
    let body: Body
    /// When the task was created.
    var created = Date()
    /// Whether content codings are decoded; a resumed download takes the bytes as they come (U-9.11).
    var mayDecode = true
    /// Whether the response to a request for the rest of a download is for something else: the request is then sent again, for
    /// the whole.
    var mustStartOver: (@Sendable (HTTPURLResponse) -> Bool)?
    /// Adds to the request of each transaction, last of all, what belongs to that transaction alone: a web socket's handshake.
    var dress: (@Sendable (inout URLRequest) -> Void)?
}
