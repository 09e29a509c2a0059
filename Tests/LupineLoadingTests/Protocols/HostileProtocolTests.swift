// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Code of the program that a load calls may block, so it is never called on an event loop.
struct HostileProtocolTests {
    /// A class that declines every request, and runs the closure that a test has registered for a path of its origin.
    private final class DecliningProtocol: URLProtocol {
        /// The closures, by port and path: all concurrent tests share the class, but each has its own origin.
        private static let callbacks = LockedValue<[String: @Sendable () -> Void]>([:])

        /// Sets the closure for a path of an origin; nil removes it.
        static func setCallback(
            _ path: String, of origin: LupineOrigin.Origin, _ callback: (@Sendable () -> Void)?
        ) {
            callbacks.update { $0["\(origin.port)\(path)"] = callback }
        }

        override class func canInit(with request: URLRequest) -> Bool {
            guard let url = request.url, let port = url.port else { return false }
            callbacks.value["\(port)\(url.path(percentEncoded: false))"]?()
            return false
        }
    }

    /// A redirect or challenge after which `canInit` is called again for the same task.
    struct Selection: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The path of the first request.
        let path: String
        /// The path for which the closure runs, and how often.
        let call: (path: String, count: Int)
        var user = ""
    }

    private static let selections = [
        Selection(
            testDescription: "after a redirect", path: "/redirect-to?url=/anything/looked-at",
            call: ("/anything/looked-at", 1)),
        Selection(
            testDescription: "after two redirects", path: "/redirect/2", call: ("/get", 1)),
        Selection(
            testDescription: "after an answered challenge", path: "/basic-auth/looked/at",
            call: ("/basic-auth/looked/at", 2), user: "looked:at@"),
    ]

    /// All loads share one event loop: a call that blocked the loop would wait for itself.
    @Test(
        "[O-7] canInit may wait for another request", arguments: selections, TestedHTTP.allCases)
    func selectedAgain(_ selection: Selection, over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [DecliningProtocol.self]
        configuration.lupine.ownEventLoops = 1
        try await withStage(configuration: configuration, over: testedHTTP) { stage in
            let calls = LockedValue<[Bool]>([])
            let session = stage.session
            let other = try stage.url("/bytes/1")
            DecliningProtocol.setCallback(selection.call.path, of: stage.origin) {
                let answered = DispatchSemaphore(value: 0)
                session.dataTask(with: other) { _, _, _ in answered.signal() }.resume()
                answered.wait()
                calls.update { $0.append(EventLoop.current == nil) }
            }
            let url = try #require(
                URL(string: "http://\(selection.user)origin.test:\(stage.origin.port)\(selection.path)"))
            let ended = Gate()
            let status = LockedValue<Int?>(nil)
            session.dataTask(with: url) { _, response, _ in
                status.set((response as? HTTPURLResponse)?.statusCode)
                ended.open()
            }.resume()
            await ended.wait()
            DecliningProtocol.setCallback(selection.call.path, of: stage.origin, nil)
            #expect(status.value == 200)
            #expect(calls.value == Array(repeating: true, count: selection.call.count))
        }
    }

    @Test(
        "a request that is cancelled while a protocol decides about its redirect ends once",
        arguments: TestedHTTP.allCases)
    func cancelledBehindARedirect(over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [DecliningProtocol.self]
        configuration.lupine.ownEventLoops = 1
        try await withStage(configuration: configuration, over: testedHTTP) { stage in
            let path = "/anything/cancelled"
            let (isCalled, release) = (Gate(), DispatchSemaphore(value: 0))
            DecliningProtocol.setCallback(path, of: stage.origin) {
                isCalled.open()
                release.wait()
            }
            let ends = LockedValue<[URLError.Code?]>([])
            let ended = Gate()
            let task = stage.session.dataTask(with: try stage.url("/redirect-to?url=\(path)")) {
                _, _, error in
                ends.update { $0.append((error as? URLError)?.code) }
                ended.open()
            }
            task.resume()
            await isCalled.wait()
            task.cancel()
            release.signal()
            await ended.wait()
            DecliningProtocol.setCallback(path, of: stage.origin, nil)
            // The session still works.
            #expect(try await stage.get("/get").status == 200)
            #expect(ends.value == [.cancelled])
            #expect(stage.origin.counts.requests == 2)
        }
    }

    @Test("[O-7] observers of cookies may wait for another request", arguments: TestedHTTP.allCases)
    func cookiesAreAnnouncedElsewhere(over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.ownEventLoops = 1
        let storage = try #require(configuration.httpCookieStorage)
        try await withStage(configuration: configuration, over: testedHTTP) { stage in
            let (session, other) = (stage.session, try stage.url("/bytes/1"))
            let notified = Gate()
            let isElsewhere = LockedValue<Bool?>(nil)
            let observer = NotificationCenter.default.addObserver(
                forName: .NSHTTPCookieManagerCookiesChanged, object: storage, queue: nil
            ) { _ in
                let answered = DispatchSemaphore(value: 0)
                session.dataTask(with: other) { _, _, _ in answered.signal() }.resume()
                answered.wait()
                isElsewhere.set(EventLoop.current == nil)
                notified.open()
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            let ended = Gate()
            session.dataTask(with: try stage.url("/cookies/set/a/1")) { _, _, _ in ended.open() }.resume()
            await notified.wait()
            await ended.wait()
            #expect(isElsewhere.value == true)
        }
    }
}
