// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// The class itself: registration, properties, and its behaviour without overrides.
struct URLProtocolTests {
    private final class First: URLProtocol {}
    private final class Second: URLProtocol {}
    private final class UnimplementedProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
    }
    private final class NoProtocol {}

    @Test(
        "[U-17.1] the latest registration is tried first, duplicates are ignored, configurations copy the list"
    )
    func registration() {
        let registeredClasses = { (classes: [AnyClass]?) in
            (classes ?? []).filter { $0 == First.self || $0 == Second.self }.map { "\($0)" }
        }
        #expect(!URLProtocol.registerClass(NoProtocol.self))
        #expect(URLProtocol.registerClass(First.self) && URLProtocol.registerClass(Second.self))
        #expect(URLProtocol.registerClass(First.self))
        #expect(registeredClasses(ProtocolRegistry.classes) == ["Second", "First"])
        #expect(registeredClasses(URLSessionConfiguration.default.protocolClasses) == ["Second", "First"])
        URLProtocol.unregisterClass(Second.self)
        #expect(registeredClasses(ProtocolRegistry.classes) == ["First"])
        URLProtocol.unregisterClass(First.self)
        #expect(registeredClasses(URLSessionConfiguration.ephemeral.protocolClasses).isEmpty)
    }

    @Test func propertiesAreCopiedWithARequest() throws {
        let request = NSMutableURLRequest(url: try #require(URL(string: "http://a.test/")))
        URLProtocol.setProperty("value", forKey: "key", in: request)
        let copy = request as URLRequest
        #expect(URLProtocol.property(forKey: "key", in: copy) as? String == "value")
        #expect(URLProtocol.property(forKey: "other", in: copy) == nil)
        URLProtocol.removeProperty(forKey: "key", in: request)
        #expect(URLProtocol.property(forKey: "key", in: request as URLRequest) == nil)
        #expect(URLProtocol.property(forKey: "key", in: copy) as? String == "value")
    }

    @Test("[U-17.2] canInit(with task:) asks about the current request; the base class declines")
    func defaults() throws {
        let request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        let other = URLRequest(url: try #require(URL(string: "http://b.test/")))
        #expect(!URLProtocol.canInit(with: request) && !First.canInit(with: request))
        #expect(!UnimplementedProtocol.canInit(with: URLSessionTask()), "there is no request")
        #expect(URLProtocol.canonicalRequest(for: request) == request)
        #expect(URLProtocol.requestIsCacheEquivalent(request, to: request))
        #expect(!URLProtocol.requestIsCacheEquivalent(request, to: other))
        let instance = First(request: request, cachedResponse: nil, client: nil)
        #expect(instance.request == request && instance.task == nil && instance.client == nil)
        #expect(instance.cachedResponse == nil)
        let task = URLSessionTask()
        let made = ScriptedProtocol(task: task, cachedResponse: nil, client: nil)
        #expect(made.task === task && made.request.value(forHTTPHeaderField: "X-Canonical") == "yes")
    }

    @Test func aProtocolThatLoadsNothingFails() async throws {
        let witness = HopWitness()
        let request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        ProtocolLoad(
            UnimplementedProtocol.self, canonical: request, task: URLSessionTask(), idleTimeout: nil,
            clock: .system,
            client: witness
        ).start()
        #expect(await witness.end().error?.code == .unsupportedURL)
    }
}
