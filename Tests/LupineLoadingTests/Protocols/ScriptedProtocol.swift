// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport

@testable import LupineLoading

/// A `URLProtocol` that runs a closure of the test, chosen by the host of the request, and records the calls of its methods.
final class ScriptedProtocol: URLProtocol {
    /// The closure that the instances for one host run in `startLoading`, and a record of their calls.
    final class Scenario: Sendable {
        let script: @Sendable (ScriptedProtocol) -> Void
        let log = LockedValue<[String]>([])
        let started = Gate()
        let stopped = Gate()
        let isRunning = LockedValue(false)

        init(_ script: @escaping @Sendable (ScriptedProtocol) -> Void) { self.script = script }

        func record(_ event: String) { log.update { $0.append(event) } }
    }

    /// The scenarios by host.
    private static let scenarios = LockedValue<[String: Scenario]>([:])

    /// Registers a closure for a new host.
    static func register(
        _ script: @escaping @Sendable (ScriptedProtocol) -> Void
    ) -> (host: String, scenario: Scenario) {
        let host = "\(UUID().uuidString.lowercased()).test"
        let scenario = Scenario(script)
        scenarios.update { $0[host] = scenario }
        return (host, scenario)
    }

    static func scenario(_ request: URLRequest?) -> Scenario? {
        guard let host = request?.url?.host(percentEncoded: false) else { return nil }
        return scenarios.value[host.lowercased()]
    }

    override class func canInit(with request: URLRequest) -> Bool {
        let scenario = scenario(request)
        scenario?.record("canInit \(request.value(forHTTPHeaderField: "X-Session") ?? "")")
        return scenario != nil
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("yes", forHTTPHeaderField: "X-Canonical")
        return request
    }

    override func startLoading() {
        guard let scenario = Self.scenario(request) else { return }
        scenario.record(scenario.isRunning.value ? "start while running" : "start")
        scenario.isRunning.set(true)
        scenario.script(self)
        scenario.started.open()
    }

    override func stopLoading() {
        guard let scenario = Self.scenario(request) else { return }
        scenario.record("stop")
        scenario.isRunning.set(false)
        scenario.stopped.open()
    }

    // MARK: reports to the client

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
