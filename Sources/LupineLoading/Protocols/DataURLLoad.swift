// SPDX-License-Identifier: MIT

internal import Foundation

/// Loads a `data:` URL, which contains its own response (U-18.2). Never cached.
final class DataURLLoad: HopLoad {
    private let request: URLRequest
    private let outlet: HopEventQueue

    /// Creates the load of a request.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        outlet = HopEventQueue(request, client: client)
    }

    func start() {
        outlet.open(for: self)
        // Asynchronously, because the client must not be called within `start`, and because the URL may be long.
        StorageQueue.files.async { [self] in read() }
    }

    private func read() {
        guard let url = request.url, let data = DataURL(url.absoluteString) else {
            return outlet.say(
                .end(URLError.loading(.badURL, url: request.url, reason: "this is no valid data: address")))
        }
        outlet.say(
            .response(
                URLResponse(
                    url: url, mimeType: data.mimeType, expectedContentLength: data.content.count,
                    textEncodingName: data.charset), .notAllowed))
        outlet.say(.content(Data(data.content)))
        outlet.say(.end(nil))
    }

    func cancel(_ error: URLError) {
        outlet.finish(error)
        outlet.open(for: self)
    }

    func resumeReading() { outlet.resumeReading() }
    func skip() { outlet.finish(nil) }
    func setSuspended(_ isSuspended: Bool) { outlet.setSuspended(isSuspended) }
    func setPriority(_ priority: Float) {}
}
