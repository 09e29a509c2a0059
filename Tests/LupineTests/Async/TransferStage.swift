// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit

@testable import Lupine

extension ObservedStage {
    /// Returns a stream request for a path.
    func stream(_ path: String) -> DataStreamRequest {
        DataStreamRequest(
            convertible: Address(text: url(path)), automaticallyCancelOnStreamError: false,
            underlyingQueue: session.rootQueue, serializationQueue: session.serializationQueue,
            eventMonitor: session.eventMonitor, interceptor: nil, shouldAutomaticallyResume: nil,
            delegate: session)
    }

    /// Returns a download request for a path, which moves the file into `folder`.
    func download(_ path: String, to folder: URL) -> DownloadRequest {
        DownloadRequest(
            downloadable: .request(Address(text: url(path))), underlyingQueue: session.rootQueue,
            serializationQueue: session.serializationQueue, eventMonitor: session.eventMonitor,
            interceptor: nil, shouldAutomaticallyResume: nil, delegate: session
        ) { _, response in
            (folder.appendingPathComponent("file"), [.createIntermediateDirectories, .removePreviousFile])
        }
    }

    /// Returns a request for a stream of the pieces `a`, `b` and `c`. The origin sends the second when the gate `b` is opened,
    /// and the third when the gate `c` is opened.
    func pieces() -> DataStreamRequest {
        origin.answer(
            "GET", "/pieces",
            ScriptPlan(
                .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na"), .signal("asked"), .waitForSignal("b"),
                .send("b"), .waitForSignal("c"), .send("c"), .close))
        return stream("/pieces")
    }
}

/// A URL as text, for a request.
private struct Address: URLRequestConvertible {
    let text: String

    func asURLRequest() throws -> URLRequest { URLRequest(url: try text.asURL()) }
}
