// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// A callback may do anything to the request that it is called for, and to its session: the request finishes exactly once, and
/// nothing deadlocks (O-6).
@Suite struct HostileCallbackTests {
    /// The action of a callback.
    enum Deed: CaseIterable {
        case cancel, resume, suspend, newRequest, properties, invalidate, letGo

        func perform(on stage: CallbackStage, _ more: ValueLog<Bool>) {
            switch self {
            case .cancel: stage.request?.cancel()
            case .resume: stage.request?.resume()
            case .suspend: stage.request?.suspend()
            case .newRequest:
                stage.session.request(stage.url()).response(queue: stage.queue()) { _ in more.add(true) }
                    .resume()
            case .properties:
                if let request = stage.request { askEverything(of: request) }
                askEverything(of: stage.session)
            case .invalidate: stage.session.session.invalidateAndCancel()
            case .letGo: stage.letGo()
            }
        }
    }

    @Test("[O-6] every callback calls everything back", arguments: Callback.all, Deed.allCases)
    func callsBack(_ callback: Callback, _ deed: Deed) async throws {
        for testedHTTP in TestedHTTP.allCases {
            let hook = Hook()
            let stage = try CallbackStage(callback, hook, over: testedHTTP)
            let (more, ended) = (ValueLog<Bool>(), ValueLog<Bool>())
            hook.arm { [unowned stage] in deed.perform(on: stage, more) }
            stage.begin(callback, hook, ended)
            await hook.calls.wait(for: 1)
            // Continues a suspended request, and ends a WebSocket request, which does not end by itself.
            if deed == .suspend { stage.request?.resume() }
            (stage.request as? WebSocketRequest)?.cancel()
            await ended.wait(for: 1)
            if deed == .newRequest { await more.wait(for: 1) }
            await stage.end()
            #expect(ended.all.count == 1, "it comes to its end once")
        }
    }

    @Test("each callback has a name of its own")
    func names() {
        #expect(Set(Callback.all.map(\.name)).count == Callback.all.count)
    }
}

/// Reads everything of a session that may be read on any thread.
func askEverything(of session: Session) {
    _ = (session.session.configuration, session.delegate, session.rootQueue, session.requestQueue)
    _ = (session.startRequestsImmediately, session.requestSetup, session.serializationQueue)
    _ = (session.interceptor as Any?, session.serverTrustManager, session.redirectHandler as Any?)
    _ = (session.cachedResponseHandler as Any?, session.eventMonitor, session.sessionConfiguration)
    _ = (session.session.delegateQueue, session.session.sessionDescription, session.startImmediately)
    session.withAllRequests { _ in }
}
