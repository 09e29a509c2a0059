// SPDX-License-Identifier: MIT

import Foundation

/// The request and options of a task, which are fixed when the task is created.
struct TaskDefinition: Sendable {
    /// The kind of a task, on which some rules depend.
    enum Kind: Hashable, Sendable { case data, upload, download, webSocket }
    /// The source of the request's body.
    enum Body: Sendable {
        /// The request's `httpBody` or `httpBodyStream`.
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
    /// Whether content codings are decoded; those of a resumed download are not (U-9.11).
    var mayDecode = true
    /// Returns whether the response to a resumed download cannot be appended to its part; then the driver requests the whole
    /// resource instead. Nil for other tasks.
    var mustStartOver: (@Sendable (HTTPURLResponse) -> Bool)?
    /// Adds a new WebSocket handshake to each request, as the last change before it is sent. Nil for other tasks.
    var addHandshakeFields: (@Sendable (inout URLRequest) -> Void)?
}
