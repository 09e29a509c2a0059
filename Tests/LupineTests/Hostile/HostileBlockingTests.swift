// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Every callback may block. Other sessions continue, and so does the callback's own session if the callback has a queue that
/// does not target the root queue. `Documentation/Lupine.docc/Concurrency.md` lists the work that each callback holds up.
@Suite struct HostileBlockingTests {
    /// Loads a URL, and blocks the calling thread until the response has arrived.
    private static func load(_ url: String, of session: Session) {
        let answered = DispatchSemaphore(value: 0)
        session.request(url).response(queue: DispatchQueue(label: "hostile.other")) { _ in answered.signal() }
            .resume()
        answered.wait()
    }

    /// Makes the callback of a request block once, and waits until the request has finished.
    private func block(
        _ callback: Callback, over testedHTTP: TestedHTTP, _ wait: @escaping @Sendable (CallbackStage) -> Void
    ) async throws {
        let hook = Hook()
        let stage = try CallbackStage(callback, hook, over: testedHTTP)
        let ended = ValueLog<Bool>()
        hook.arm { [unowned stage] in wait(stage) }
        stage.begin(callback, hook, ended)
        await hook.calls.wait(for: 1)
        // WebSocket requests do not end by themselves.
        (stage.request as? WebSocketRequest)?.cancel()
        await ended.wait(for: 1)
        await stage.end()
    }

    @Test(
        "[O-7] a callback that waits for a request of another session gets it", arguments: Callback.all,
        TestedHTTP.allCases)
    func waitsForAnotherSession(_ callback: Callback, over testedHTTP: TestedHTTP) async throws {
        let origin = try PipelineSetUp(testedHTTP: testedHTTP).makeOrigin()
        let session = try PipelineSetUp(testedHTTP: testedHTTP).session(of: origin)
        try await block(callback, over: testedHTTP) { _ in
            Self.load("http://origin.test:\(origin.port)/get", of: session)
        }
        session.session.invalidateAndCancel()
        await origin.shutdown()
    }

    @Test(
        "[O-7] a callback with a queue of its own that waits for a request of its session gets it",
        arguments: Callback.all.filter { $0.holds == .itself }, TestedHTTP.allCases)
    func waitsForItsSession(_ callback: Callback, over testedHTTP: TestedHTTP) async throws {
        try await block(callback, over: testedHTTP) { stage in Self.load(stage.url(), of: stage.session) }
    }
}
