// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineLoading

/// A WebSocket task that is cancelled at the moment when its connection opens.
struct WebSocketOpeningTests {
    @Test("[U-5.1, U-8.2] a task that is cancelled while the connection leaves HTTP ends")
    func cancelledWhileOpening() async throws {
        let origin = try LupineOrigin.Origin.start()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let task = LockedValue<URLSessionTask?>(nil)
        let session = URLSession(
            SessionCore(configuration, delegate: nil, queue: nil, isShared: false) { order, context, client in
                // Runs on the connection's loop, after the server's answer and before the load handles it.
                Crossing(client, upgrading: { task.value?.cancel() }) {
                    TaskDriver(order, context: context, client: $0)
                }
            })
        let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/websocket"))
        let socket = session.webSocketTask(with: url)
        task.set(socket)
        socket.resume()
        await #expect(throws: URLError.self) { try await socket.receive() }
        session.finishTasksAndInvalidate()
        // The handler is called before the task ends, on the same queue.
        while socket.state != .completed { await Task.yield() }
        #expect((socket.error as? URLError)?.code == .cancelled)
        task.set(nil)
        await origin.shutdown()
    }
}

/// A layer between a driver and its client: it calls `upgrading` at the upgrade, and passes a cancellation to the driver only
/// afterwards, as if the two had happened at the same time.
private final class Crossing: TaskLoad, TaskDriverClient {
    private let client: any TaskDriverClient
    private let upgrading: @Sendable () -> Void
    private let driver = LockedValue<(any TaskLoad)?>(nil)
    private let lateCall = LockedValue<(isHeld: Bool, error: URLError?)>((false, nil))

    init(
        _ client: any TaskDriverClient, upgrading: @escaping @Sendable () -> Void,
        _ makeDriver: (any TaskDriverClient) -> any TaskLoad
    ) {
        (self.client, self.upgrading) = (client, upgrading)
        driver.set(makeDriver(self))
    }

    func start() { driver.value?.start() }
    func cancel(_ error: URLError) {
        lateCall.update { lateCall in lateCall.error = error }
        if !lateCall.value.isHeld { driver.value?.cancel(error) }
    }
    func resumeReading() {}
    func setSuspended(_ isSuspended: Bool) { driver.value?.setSuspended(isSuspended) }
    func setPriority(_ priority: Float) { driver.value?.setPriority(priority) }

    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler {
        lateCall.update { $0.isHeld = true }
        upgrading()
        let handler = client.driverUpgraded(connection, response)
        lateCall.update { $0.isHeld = false }
        if let error = lateCall.value.error { driver.value?.cancel(error) }
        return handler
    }
    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        driver.set(nil)
        client.driverEnded(error, metrics)
    }

    var driverTask: URLSessionTask { client.driverTask }
    var driverIdentifier: Int? { client.driverIdentifier }
    var challengedTask: (any ServerTrustChallenger)? { nil }
    var driverJudges: [ObjectToken] { [] }
    func driverWillSend(_ request: URLRequest, authorization: String?) {
        client.driverWillSend(request, authorization: authorization)
    }
    func driverReceivedResponse(_ response: URLResponse) -> HopPlan {
        client.driverReceivedResponse(response)
    }
    func driverWaitsForConnectivity() {}
    func driverFollowsRedirect(_ request: URLRequest) {}
    func driverWillRedirect(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void
    ) { reply(request) }
    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { reply(.performDefaultHandling, nil) }
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void) { reply(nil) }
    func driverSent(total: Int64, expected: Int64) {}
    func driverReceivedInterimResponse(_ response: HTTPURLResponse) {}
    func driverReceivedContent(_ data: Data) -> Demand { .enough }
    func driverSpliced(_ count: Int) -> Demand { .enough }
    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { reply(nil) }
}
