// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineHTTP
import LupineLoading
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

/// Texts that the library produces for requests with secrets: descriptions, errors, notifications and log lines.
@Suite struct PrintedSecretTests {
    /// A request, and the way in which it ends.
    struct Ending: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The authority of the URL; nil for the origin.
        var authority: String?
        var path = "/get"
        var scheme = "http"
        var answer: String?
        var validates = false
        var cancels = false
        var proxy: String?
    }

    static let endings: [Ending] = [
        Ending(testDescription: "a response", path: "/ip"),
        Ending(testDescription: "a password that is refused", path: "/basic-auth/other/other"),
        Ending(testDescription: "a status that validation refuses", path: "/status/500", validates: true),
        Ending(testDescription: "a redirect without end", path: "/redirect/30"),
        Ending(
            testDescription: "a redirect to another scheme",
            answer: "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ftp://user:s3cr3t@h/\r\n\r\n"),
        Ending(
            testDescription: "a redirect to a URL with a password",
            answer:
                "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://user:s3cr3t@127.0.0.1:1/\r\n\r\n"
        ),
        Ending(testDescription: "a response that is not HTTP", answer: "220 mail\r\n"),
        Ending(
            testDescription: "a cookie that breaks the head",
            answer: "HTTP/1.1 200 OK\r\nSet-Cookie: a=s3cr3t\0\r\n\r\n"),
        Ending(
            testDescription: "a truncated body",
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nSet-Cookie: a=s3cr3t\r\n\r\nab"),
        Ending(testDescription: "a refused connection", authority: "127.0.0.1:1"),
        Ending(testDescription: "no such host", authority: "no-such-host.invalid"),
        Ending(testDescription: "an invalid port", authority: "127.0.0.1:99999"),
        Ending(testDescription: "a server without TLS", scheme: "https"),
        Ending(testDescription: "an unsupported scheme", scheme: "gopher"),
        Ending(testDescription: "a cancelled request", cancels: true),
        Ending(testDescription: "an unreachable proxy", proxy: "http://user:s3cr3t@127.0.0.1:1"),
        Ending(
            testDescription: "a proxy URL with an unsupported scheme",
            proxy: "nonsense://user:s3cr3t@127.0.0.1:1"),
        Ending(testDescription: "a proxy URL without a host", proxy: "http://user:s3cr3t@:x"),
    ]

    private static func containsSecret(_ text: String) -> Bool {
        let encoded = [Data("user:s3cr3t".utf8).base64EncodedString(), "czNjcjN0"]
        return text.contains("s3cr3t") || encoded.contains { text.contains($0) }
    }

    /// Collects texts from any thread.
    private final class TextCollector: Sendable {
        let texts = Lock<[String]>([])
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    @Test("no text contains a secret", .timeLimit(.minutes(10)), arguments: endings, TestedHTTP.allCases)
    func requests(_ ending: Ending, over testedHTTP: TestedHTTP) async throws {
        let collector = TextCollector()
        let names = [
            Request.didResumeNotification, Request.didCompleteTaskNotification, Request.didFinishNotification,
            Request.didCancelTaskNotification,
        ]
        let monitor = LoggingEventMonitor { collector.add("log: " + $0) }
        let plan = ending.answer.map { ScriptPlan(.expectHead, .send($0), .close) }
        try await HostileStage.with(
            plan, monitors: [monitor, AlamofireNotifications()], over: testedHTTP,
            { configuration, _ in
                if let proxy = ending.proxy { configuration.lupine.proxies = ["http_proxy": proxy] }
            },
            { stage in
                let observers = names.map { name in
                    NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                        notification in
                        collector.add("notification: \(notification)")
                    }
                }
                let authority = ending.authority ?? "origin.test:\(stage.origin.port)"
                let request = stage.session.request(
                    "\(ending.scheme)://user:s3cr3t@\(authority)\(ending.path)",
                    headers: [
                        "Authorization": "Bearer s3cr3t", "Cookie": "id=s3cr3t",
                        "Proxy-Authorization": "Basic s3cr3t",
                    ])
                if ending.validates { request.validate() }
                if ending.cancels { request.cancel() }
                let response = await request.authenticate(username: "user", password: "s3cr3t").answered()
                for observer in observers { NotificationCenter.default.removeObserver(observer) }
                Self.collectTexts(of: request, response, into: collector)
            })
        for text in collector.texts.withLock({ $0 }) { #expect(!Self.containsSecret(text), "\(text)") }
    }

    /// Collects all texts that can be printed of a request that has ended.
    private static func collectTexts(
        of request: DataRequest, _ response: AFDataResponse<Data?>, into collector: TextCollector
    ) {
        collector.add("request: \(request)")
        collector.add("response: \(response)")
        collector.add("response in full: \(response.debugDescription)")
        for task in request.tasks {
            collector.add("task: \(task)")
            collector.add("task's error: \(String(describing: task.error))")
            collector.add(
                "task's request: \(String(describing: task.currentRequest)) \(String(describing: task.originalRequest))"
            )
        }
        for metrics in request.allMetrics { collector.add("metrics: \(metrics)") }
        if let metrics = response.metrics { collector.add("transactions: \(metrics.transactionMetrics)") }
        guard let error = response.error else { return }
        collector.add("error: \(error)")
        collector.add("error in words: \(error.localizedDescription)")
        collector.add("error in full: \(String(reflecting: error))")
        if let underlying = error.underlyingError {
            collector.add("cause: \(underlying)")
            collector.add("cause in words: \(underlying.localizedDescription)")
            collector.add("cause as NSError: \(underlying as NSError)")
        }
    }

    struct Value: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: @Sendable () throws -> String
    }

    /// Descriptions of values that contain a secret.
    static let values: [Value] = [
        Value(testDescription: "a credential") {
            let credential = URLCredential(user: "user", password: "s3cr3t", persistence: .none)
            return "\(credential) \(credential.debugDescription)"
        },
        Value(testDescription: "a storage of credentials") {
            let storage = URLCredentialStorage()
            let space = URLProtectionSpace(
                host: "h", port: 80, protocol: "http", realm: nil, authenticationMethod: nil)
            storage.set(URLCredential(user: "user", password: "s3cr3t", persistence: .forSession), for: space)
            return "\(storage) \(storage.allCredentials)"
        },
        Value(testDescription: "a cookie") {
            let cookie = try #require(
                HTTPCookie(properties: [.name: "id", .value: "s3cr3t", .domain: "h", .path: "/"]))
            let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
            storage?.setCookie(cookie)
            return "\(cookie) \(cookie.debugDescription) \(storage.map { "\($0)" } ?? "")"
        },
        Value(testDescription: "a request") {
            var request = URLRequest(url: try #require(URL(string: "http://user:s3cr3t@h/")))
            request.setValue("Bearer s3cr3t", forHTTPHeaderField: "Authorization")
            return "\(request) \(request.debugDescription)"
        },
        Value(testDescription: "a configuration") {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["Authorization": "Bearer s3cr3t"]
            configuration.lupine.proxies = ["http_proxy": "http://user:s3cr3t@h"]
            return "\(configuration) \(configuration.debugDescription)"
        },
        Value(testDescription: "a response") {
            let url = try #require(URL(string: "http://user:s3cr3t@h/"))
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil,
                    headerFields: ["Set-Cookie": "id=s3cr3t"]))
            let cached = CachedURLResponse(response: response, data: Data("s3cr3t".utf8))
            return "\(response) \(response.debugDescription) \(cached)"
        },
        Value(testDescription: "an invalid URL") {
            let error = AFError.invalidURL(url: "http://user:s3cr3t@h h/")
            return error.localizedDescription
        },
        Value(testDescription: "the transport's request") {
            var fields = Fields()
            try fields.append(.authorization, "s3cr3t")
            let request = try HTTPRequest(url: "http://h/", fields: fields)
            return "\(fields) \(fields.description) \(request.fields)"
        },
        Value(testDescription: "the transport's error for a URL") {
            do {
                _ = try HTTPRequest(url: "http://user:s3cr3t@h/")
                return ""
            } catch { return "\(error)" }
        },
    ]

    @Test("no description of a value contains a secret", arguments: values)
    func value(_ row: Value) throws {
        let text = try row.text()
        #expect(!Self.containsSecret(text), "\(text)")
    }
}
