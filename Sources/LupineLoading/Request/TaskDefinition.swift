// SPDX-License-Identifier: MIT

import Foundation

/// The request and options of a task, which do not change after the task is created.
struct TaskDefinition: Sendable {
    /// The kind of a task.
    enum Kind: Hashable, Sendable { case data, upload, download, webSocket }
    /// The source of the body.
    enum Body: Sendable {
        /// The request's `httpBody` or `httpBodyStream`, if it has one.
        case request
        /// An upload task's data, which replaces a body of the request.
        case data(Data)
        /// An upload task's file, which replaces a body of the request.
        case file(URL)
        /// An upload task's stream, which the delegate supplies each time the task needs it (U-7.5).
        case streamed
    }

    let kind: Kind
    let request: URLRequest
    let body: Body
    /// When the task was created.
    var created = Date()
    /// Whether content codings are decoded. False for a resumed download, whose partial file contains undecoded bytes (U-9.11).
    var mayDecode = true
    /// For a resumed download, returns whether the response does not continue the partial file. Then the driver requests the
    /// whole resource. Nil for other tasks.
    var mustStartOver: (@Sendable (HTTPURLResponse) -> Bool)?
    /// For a WebSocket task, adds the fields of a new opening handshake to a request, as the last change before it is sent. Nil
    /// for other tasks.
    var addHandshakeFields: (@Sendable (inout URLRequest) -> Void)?
}
