// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Completion handlers of a `URLSession` may use their task and session in any way, and may block: each is called once, without a
/// lock held, and holds up no other session (O-6, O-7).
struct HostileHandlerTests {
    /// A handler, and an operation that calls it.
    struct Handler: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// An operation that calls its argument `call` once; it returns the task, if there is one.
        let begin: @Sendable (SessionStage, @escaping @Sendable () -> Void) throws -> URLSessionTask?

        init(
            _ name: String,
            _ begin:
                @escaping @Sendable (SessionStage, @escaping @Sendable () -> Void) throws -> URLSessionTask?
        ) {
            testDescription = name
            self.begin = begin
        }
    }

    private static let post: @Sendable (SessionStage) throws -> URLRequest = { stage in
        var request = URLRequest(url: try stage.url("/post"))
        request.httpMethod = "POST"
        return request
    }

    /// Returns a WebSocket task for an origin that echoes messages.
    private static func socket(_ stage: SessionStage) throws -> URLSessionWebSocketTask {
        stage.session.webSocketTask(with: try stage.url("/websocket", scheme: "ws"))
    }

    private static func stream(_ stage: SessionStage) -> URLSessionStreamTask {
        stage.session.streamTask(withHostName: "origin.test", port: Int(stage.origin.port))
    }

    private static let question = Data("GET /get HTTP/1.1\r\nHost: origin.test\r\n\r\n".utf8)

    private static let handlers = [
        Handler("data") { stage, call in
            stage.session.dataTask(with: try stage.url("/get")) { _, _, _ in call() }
        },
        Handler("upload") { stage, call in
            stage.session.uploadTask(with: try post(stage), from: Data("a".utf8)) { _, _, _ in call() }
        },
        Handler("download") { stage, call in
            stage.session.downloadTask(with: try stage.url("/get")) { _, _, _ in call() }
        },
        Handler("resume data of a download") { stage, call in
            let task = stage.session.downloadTask(with: try stage.url("/delay/600"))
            task.cancel { _ in call() }
            return task
        },
        Handler("resume data of an upload") { stage, call in
            let task = stage.session.uploadTask(with: try post(stage), from: Data("a".utf8))
            task.cancel { _ in call() }
            return task
        },
        Handler("all tasks") { stage, call in
            stage.session.getAllTasks { _ in call() }
            return nil
        },
        Handler("tasks by their kind") { stage, call in
            stage.session.getTasksWithCompletionHandler { _, _, _ in call() }
            return nil
        },
        Handler("flush") { stage, call in
            stage.session.flush { call() }
            return nil
        },
        Handler("reset") { stage, call in
            stage.session.reset { call() }
            return nil
        },
        Handler("a message sent") { stage, call in
            let task = try socket(stage)
            task.send(.string("a")) { _ in call() }
            return task
        },
        Handler("a message received") { stage, call in
            let task = try socket(stage)
            task.send(.string("a")) { _ in }
            task.receive { _ in call() }
            return task
        },
        Handler("a pong") { stage, call in
            let task = try socket(stage)
            task.sendPing { _ in call() }
            return task
        },
        Handler("bytes written") { stage, call in
            let task = stream(stage)
            task.write(question, timeout: 0) { _ in call() }
            return task
        },
        Handler("bytes read") { stage, call in
            let task = stream(stage)
            task.write(question, timeout: 0) { _ in }
            task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { _, _, _ in call() }
            return task
        },
        Handler("a cached response") { stage, call in
            let task = stage.session.dataTask(with: try stage.url("/cache/60"))
            URLCache(memoryCapacity: 1 << 20, diskCapacity: 0).getCachedResponse(for: task) { _ in call() }
            return task
        },
        Handler("an override of the cache's") { stage, call in
            let task = stage.session.dataTask(with: try stage.url("/cache/60"))
            CallingCache(call).getCachedResponse(for: task) { _ in }
            return task
        },
    ]

    /// A cache that runs a closure when a response is looked up.
    private final class CallingCache: URLCache, @unchecked Sendable {
        private let call: @Sendable () -> Void

        init(_ call: @escaping @Sendable () -> Void) {
            self.call = call
            super.init(memoryCapacity: 1 << 20, diskCapacity: 0)
        }

        override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            call()
            return super.cachedResponse(for: request)
        }
    }

    /// What a completion handler does.
    enum Action: CaseIterable {
        case cancel, resume, suspend, newTask, properties, invalidate
    }

    private static func perform(
        _ action: Action, of task: URLSessionTask?, on stage: SessionStage, _ other: URL,
        _ more: @escaping @Sendable () -> Void
    ) {
        switch action {
        case .cancel: task?.cancel()
        case .resume: task?.resume()
        case .suspend: task?.suspend()
        case .newTask: stage.session.dataTask(with: other) { _, _, _ in more() }.resume()
        case .properties:
            _ = (task?.state, task?.error, task?.response, task?.progress, task?.countOfBytesReceived)
            _ = (stage.session.configuration, stage.session.delegateQueue, stage.session.sessionDescription)
        case .invalidate: stage.session.invalidateAndCancel()
        }
    }

    @Test("[O-6] every completion handler may call the library", arguments: handlers, Action.allCases)
    func callsBack(_ handler: Handler, _ action: Action) async throws {
        try await withStage { stage in
            let (called, more) = (Gate(), Gate())
            let calls = LockedValue(0)
            let begun = LockedValue<URLSessionTask?>(nil)
            let other = try stage.url("/get")
            let task = try handler.begin(stage) {
                LupineLoading.assertNoLockIsHeld()
                Self.perform(action, of: begun.value, on: stage, other) { more.open() }
                calls.update { $0 += 1 }
                called.open()
            }
            begun.set(task)
            task?.resume()
            await called.wait()
            if action == .newTask { await more.wait() }
            #expect(calls.value == 1)
        }
    }

    @Test(
        "[O-7] a completion handler that waits for a task of another session gets it", arguments: handlers,
        TestedHTTP.allCases)
    func waits(_ handler: Handler, over testedHTTP: TestedHTTP) async throws {
        try await withStage(over: testedHTTP) { stage in
            try await withStage(over: testedHTTP) { second in
                let called = Gate()
                let other = try second.url("/get")
                let task = try handler.begin(stage) {
                    let answered = DispatchSemaphore(value: 0)
                    second.session.dataTask(with: other) { _, _, _ in answered.signal() }.resume()
                    answered.wait()
                    called.open()
                }
                task?.resume()
                await called.wait()
            }
        }
    }
}
