// SPDX-License-Identifier: MIT

internal import Foundation

/// Loads a `data:` URL, which contains its own response (U-18.2). The response is not cached.
final class DataURLLoad: HopLoad {
    private let request: URLRequest
    private let events: HopEventQueue

    /// Creates the load of a request.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        events = HopEventQueue(request, client: client)
    }

    func start() {
        events.start(for: self)
        // Decodes the URL on another thread, because the URL may be long, and because `start` must not call the client.
        StorageQueue.files.async { [self] in read() }
    }

    /// Decodes the URL, and adds the response, the content and the end.
    private func read() {
        guard let url = request.url, let data = DataURL(url.absoluteString) else {
            return events.enqueue(
                .end(URLError.loading(.badURL, url: request.url, reason: "this is no valid data: address")))
        }
        events.enqueue(
            .response(
                URLResponse(
                    url: url, mimeType: data.mimeType, expectedContentLength: data.content.count,
                    textEncodingName: data.charset), .notAllowed))
        events.enqueue(.content(Data(data.content)))
        events.enqueue(.end(nil))
    }

    func cancel(_ error: URLError) {
        events.finish(error)
        // Delivers the end if the load was not started; otherwise has no effect.
        events.start(for: self)
    }

    func resumeReading() { events.resumeReading() }
    func skip() { events.finish(nil) }
    func setSuspended(_ isSuspended: Bool) { events.setSuspended(isSuspended) }
    /// Does nothing, because a `data:` URL has no connection for which loads could compete.
    func setPriority(_ priority: Float) {}
}
