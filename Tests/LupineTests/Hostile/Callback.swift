// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// What a callback of a test does: once, where the library has called it.
final class Hook: Sendable {
    private let action = Protected<(@Sendable () -> Void)?>(nil)
    /// One for each call that is over.
    let calls = Heard<Bool>()

    func arm(_ action: @escaping @Sendable () -> Void) { self.action.write(action) }

    func call() {
        assertNoLockIsHeld()
        action.write { $0.take() }?()
        calls.add(true)
    }
}

/// A place where the library calls the program's code, and a request that comes by there. `Tests/ArchitectureTests/callbacks.txt`
/// says which of the public protocols and closures it stands for.
struct Callback: Sendable, CustomTestStringConvertible {
    /// What it holds up as long as it blocks.
    enum Holds: Sendable {
        /// Everything of its session that runs on the root queue.
        case session
        /// Nothing but what comes behind it in its own place.
        case itself
    }

    let name: String
    let holds: Holds
    let prepare: @Sendable (inout PipelineSetUp, Hook) -> Void
    /// Makes the request, which is not resumed.
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

/// An origin and a session that nobody holds but this.
final class CallbackStage: Sendable {
    private struct Held {
        var session: Session?
        var request: Request?
    }

    let origin: LupineOrigin.Origin
    private let isSecure: Bool
    private let held: Protected<Held>

    init(_ callback: Callback, _ hook: Hook, over spoken: Spoken) throws {
        var setUp = PipelineSetUp(spoken: spoken)
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

    /// The callback's request is made, held here alone and resumed; `ended` hears of its end.
    func begin(_ callback: Callback, _ hook: Hook, _ ended: Heard<Bool>) {
        let request = callback.make(self, hook)
        held.write { $0.request = request }
        // In the queue's order: before anything happens to the request.
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

    /// The last references go here.
    func letGo() {
        let all = held.write { held in
            defer { held = Held() }
            return held
        }
        withExtendedLifetime(all) {}
    }

    /// What is left is ended.
    func end() async {
        held.read { $0.session }?.session.invalidateAndCancel()
        letGo()
        await origin.shutdown()
    }

    func url(_ path: String = "/get") -> String {
        isSecure ? "https://good.test:\(origin.port)\(path)" : "http://origin.test:\(origin.port)\(path)"
    }

    func socketURL() -> String { "ws://origin.test:\(origin.port)/websocket" }

    /// A request to that path, for a handler to be added to.
    func get(_ path: String = "/get") -> DataRequest { session.request(url(path)) }

    func queue() -> DispatchQueue { DispatchQueue(label: "hostile.callback") }
}
