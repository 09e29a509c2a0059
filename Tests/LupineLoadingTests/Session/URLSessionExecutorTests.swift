// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineLoading

/// Swift tasks of the program on the event loops of a `URLSession`.
@Suite(.timeLimit(.minutes(10))) struct URLSessionExecutorTests {
    private func withLoops(
        protocols: [AnyClass]? = nil, _ body: (SessionStage) async throws -> Void
    ) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.ownEventLoops = 3
        if let protocols { configuration.protocolClasses = protocols }
        try await withStage(configuration: configuration, body)
    }

    @Test("[C-60, C-62] a data task started by a Swift task on a loop uses a connection of that loop")
    func dataTasks() async throws {
        try await withLoops { stage in
            let loops = (0..<3).compactMap { _ in stage.session.executor as? EventLoop }
            for _ in 0..<3 {
                let isThere = try await Task(executorPreference: loops[2]) {
                    let answer = try await stage.get("/bytes/10")
                    return answer.status == 200 && loops[2].isOnLoop
                }.value
                #expect(isThere)
            }
            #expect(loops.map(\.load) == [0, 0, 1])
        }
    }

    @Test("[C-62] also after a redirect, and if a URLProtocol class is called on another thread")
    func redirects() async throws {
        final class DecliningProtocol: URLProtocol {
            override class func canInit(with task: URLSessionTask) -> Bool { false }
        }
        try await withLoops(protocols: [DecliningProtocol.self]) { stage in
            let loops = (0..<3).compactMap { _ in stage.session.executor as? EventLoop }
            let target = try stage.url("/bytes/10", host: "other.test").absoluteString
            let answer = try await Task(executorPreference: loops[1]) {
                try await stage.get("/redirect-to?url=\(target)")
            }.value
            #expect(answer.status == 200)
            // There is one connection to each of the two hosts.
            #expect(loops.map(\.load) == [0, 2, 0])
        }
    }

    @Test("[C-62] a task that is resumed outside of a loop has no preference")
    func elsewhere() async throws {
        try await withLoops { stage in
            let answer = try await stage.get("/bytes/10")
            #expect(answer.status == 200)
            #expect(LoopPreference().isNone)
        }
    }

    @Test("[C-60] bytes are read on the loop")
    func bytes() async throws {
        try await withLoops { stage in
            let loop = try #require(stage.session.executor as? EventLoop)
            let url = try stage.url("/bytes/100000")
            let (count, isThere) = try await withTaskExecutorPreference(loop) {
                let (bytes, _) = try await stage.session.bytes(from: url)
                var (count, isThere) = (0, true)
                for try await _ in bytes {
                    count += 1
                    isThere = isThere && loop.isOnLoop
                }
                return (count, isThere)
            }
            #expect(count == 100_000 && isThere)
        }
    }

    @Test("[C-63] the executor of an invalid session runs tasks")
    func invalid() async throws {
        try await withLoops { stage in
            let executor = stage.session.executor
            stage.session.invalidateAndCancel()
            #expect(await Task(executorPreference: executor) { 7 }.value == 7)
            #expect(await Task(executorPreference: stage.session.executor) { 7 }.value == 7)
        }
    }
}
