// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The action of a test's callback: performed once, when the library first calls the callback.
final class Hook: Sendable {
    private let action = Protected<(@Sendable () -> Void)?>(nil)
    /// One element for each call that has returned.
    let calls = ValueLog<Bool>()

    func arm(_ action: @escaping @Sendable () -> Void) { self.action.write(action) }

    func call() {
        assertNoLockIsHeld()
        action.write { $0.take() }?()
        calls.add(true)
    }
}

/// A place where the library calls the program's code, and a request that reaches it. `Tests/ArchitectureTests/callbacks.txt`
/// lists the public protocols and closures that each place covers.
struct Callback: Sendable, CustomTestStringConvertible {
    /// The work that waits while the callback blocks.
    enum Holds: Sendable {
        /// All work of the session that runs on the root queue.
        case session
        /// Only the later calls on the callback's own queue.
        case itself
    }

    let name: String
    let holds: Holds
    let prepare: @Sendable (inout PipelineSetUp, Hook) -> Void
    /// Makes the request without resuming it.
    let make: @Sendable (CallbackStage, Hook) -> Request

    init(
        _ name: String, holds: Holds = .session,
        _ make: @escaping @Sendable (CallbackStage, Hook) -> Request
    ) {
        self.init(name, holds: holds, prepare: { _, _ in }, make)
    }

    init(
        _ name: String, holds: Holds = .session,
        prepare: @escaping @Sendable (inout PipelineSetUp, Hook) -> Void,
        _ make: @escaping @Sendable (CallbackStage, Hook) -> Request = { stage, _ in
            stage.session.request(stage.url())
        }
    ) {
        self.name = name
        self.holds = holds
        self.prepare = prepare
        self.make = make
    }

    var testDescription: String { name }

    static let all: [Callback] = building + policies + responding + transfers + loading + observing
}

/// An origin and a session, which only this object retains.
final class CallbackStage: Sendable {
    private struct Held {
        var session: Session?
        var request: Request?
    }

    let origin: LupineOrigin.Origin
    private let isSecure: Bool
    private let held: Protected<Held>

    init(_ callback: Callback, _ hook: Hook, over testedHTTP: TestedHTTP) throws {
        var setUp = PipelineSetUp(testedHTTP: testedHTTP)
        setUp.startsImmediately = false
        callback.prepare(&setUp, hook)
        origin = try setUp.makeOrigin()
        isSecure = setUp.leaf != nil
        held = Protected(Held(session: try setUp.session(of: origin)))
    }

    var session: Session {
        guard let session = held.read({ $0.session }) else {
            preconditionFailure("the session was let go of")
        }
        return session
    }

    var request: Request? { held.read { $0.request } }

    /// Makes the callback's request, which only this object retains, and resumes it. `ended` receives an element when it
    /// finishes.
    func begin(_ callback: Callback, _ hook: Hook, _ ended: ValueLog<Bool>) {
        let request = callback.make(self, hook)
        held.write { $0.request = request }
        // On the request's queue: runs before anything else happens to the request.
        request.underlyingQueue.async {
            request.onFinish { [weak request] in
                if let file = (request as? DownloadRequest)?.fileURL {
                    try? FileManager.default.removeItem(at: file)
                }
                ended.add(true)
            }
        }
        request.resume()
    }

    /// Releases the last references.
    func letGo() {
        let all = held.write { held in
            defer { held = Held() }
            return held
        }
        withExtendedLifetime(all) {}
    }

    /// Invalidates the session and stops the origin.
    func end() async {
        held.read { $0.session }?.session.invalidateAndCancel()
        letGo()
        await origin.shutdown()
    }

    func url(_ path: String = "/get") -> String {
        isSecure ? "https://good.test:\(origin.port)\(path)" : "http://origin.test:\(origin.port)\(path)"
    }

    func socketURL() -> String { "ws://origin.test:\(origin.port)/websocket" }

    /// Returns a request for a path, which the caller adds a handler to.
    func get(_ path: String = "/get") -> DataRequest { session.request(url(path)) }

    func queue() -> DispatchQueue { DispatchQueue(label: "hostile.callback") }
}
