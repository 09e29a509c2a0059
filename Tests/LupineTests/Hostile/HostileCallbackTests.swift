// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// Every callback may do everything to the request that it is called for, and to its session: the request comes to its end
/// once, and nothing stands still (O-6).
@Suite struct HostileCallbackTests {
    /// What a callback does.
    enum Deed: CaseIterable {
        case cancel, resume, suspend, newRequest, properties, invalidate, letGo

        func perform(on stage: CallbackStage, _ more: Heard<Bool>) {
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
        for spoken in Spoken.allCases {
            let hook = Hook()
            let stage = try CallbackStage(callback, hook, over: spoken)
            let (more, ended) = (Heard<Bool>(), Heard<Bool>())
            hook.arm { [unowned stage] in deed.perform(on: stage, more) }
            stage.begin(callback, hook, ended)
            await hook.calls.wait(for: 1)
            // What is held goes on; web sockets do not end by themselves.
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

/// Everything that can be asked of a session on any thread.
func askEverything(of session: Session) {
    _ = (session.session.configuration, session.delegate, session.rootQueue, session.requestQueue)
    _ = (session.startRequestsImmediately, session.requestSetup, session.serializationQueue)
    _ = (session.interceptor as Any?, session.serverTrustManager, session.redirectHandler as Any?)
    _ = (session.cachedResponseHandler as Any?, session.eventMonitor, session.sessionConfiguration)
    _ = (session.session.delegateQueue, session.session.sessionDescription, session.startImmediately)
    session.withAllRequests { _ in }
}
