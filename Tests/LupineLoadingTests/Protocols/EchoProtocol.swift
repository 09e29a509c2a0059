// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport

@testable import LupineLoading

/// A protocol that runs a script of the test, chosen by the host of the request, and records its calls.
final class EchoProtocol: URLProtocol {
    /// The script of an instance, and a record of its calls.
    final class Play: Sendable {
        let script: @Sendable (EchoProtocol) -> Void
        let log = Noted<[String]>([])
        let started = Gate()
        let stopped = Gate()
        let isRunning = Noted(false)

        init(_ script: @escaping @Sendable (EchoProtocol) -> Void) { self.script = script }

        func note(_ event: String) { log.update { $0.append(event) } }
    }

    /// The plays, by host.
    private static let plays = Noted<[String: Play]>([:])

    /// Registers a script for a new host.
    static func stage(_ script: @escaping @Sendable (EchoProtocol) -> Void) -> (host: String, play: Play) {
        let host = "\(UUID().uuidString.lowercased()).test"
        let play = Play(script)
        plays.update { $0[host] = play }
        return (host, play)
    }

    static func play(_ request: URLRequest?) -> Play? {
        guard let host = request?.url?.host(percentEncoded: false) else { return nil }
        return plays.value[host.lowercased()]
    }

    override class func canInit(with request: URLRequest) -> Bool {
        let play = play(request)
        play?.note("canInit \(request.value(forHTTPHeaderField: "X-Session") ?? "")")
        return play != nil
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("yes", forHTTPHeaderField: "X-Canonical")
        return request
    }

    override func startLoading() {
        guard let play = Self.play(request) else { return }
        play.note(play.isRunning.value ? "start while running" : "start")
        play.isRunning.set(true)
        play.script(self)
        play.started.open()
    }

    override func stopLoading() {
        guard let play = Self.play(request) else { return }
        play.note("stop")
        play.isRunning.set(false)
        play.stopped.open()
    }

    // MARK: saying things

    func respond(
        _ status: Int? = nil, _ fields: [String: String] = [:], policy: URLCache.StoragePolicy = .notAllowed
    ) {
        guard let url = request.url else { return }
        let response = status.flatMap {
            HTTPURLResponse(url: url, statusCode: $0, httpVersion: "HTTP/1.1", headerFields: fields)
        }
        client?.urlProtocol(
            self,
            didReceive: response
                ?? URLResponse(url: url, mimeType: "text/x", expectedContentLength: -1, textEncodingName: nil),
            cacheStoragePolicy: policy)
    }

    func load(_ text: String) { client?.urlProtocol(self, didLoad: Data(text.utf8)) }
    func finish() { client?.urlProtocolDidFinishLoading(self) }
    func fail(_ error: any Error) { client?.urlProtocol(self, didFailWithError: error) }
}
