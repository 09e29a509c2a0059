// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin

/// Strings from proxies, servers and files.
extension InjectionPlace {
    // MARK: proxies

    private static let demandsPassword = Script([
        .expectHead,
        .send("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"),
        .expectHead, .send("HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close,
    ])

    private static func proxy(
        _ name: String, scheme: String, trace: Trace,
        _ settings: @escaping @Sendable (String) -> [String: Any]
    ) -> InjectionPlace {
        InjectionPlace(
            testDescription: name, plan: { _ in ScriptPlan([demandsPassword]) },
            configure: { text, configuration, origin in
                configuration.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(origin.port),
                    "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(origin.port),
                ].merging(settings(text)) { $1 }
            }, trace: trace,
            use: { stage, _ in _ = await stage.session.request("\(scheme)://elsewhere.test/x").answered() })
    }

    static let proxies: [InjectionPlace] =
        ["http", "https"].flatMap { scheme in
            [
                proxy("a proxy's user, for \(scheme)", scheme: scheme, trace: .base64("", ":p")) {
                    ["kCFProxyUsernameKey": $0, "kCFProxyPasswordKey": "p"]
                },
                proxy("a proxy's password, for \(scheme)", scheme: scheme, trace: .base64("u:", "")) {
                    ["kCFProxyUsernameKey": "u", "kCFProxyPasswordKey": $0]
                },
                proxy("a proxy's host, for \(scheme)", scheme: scheme, trace: .nowhere) {
                    ["HTTPProxy": $0, "HTTPSProxy": $0]
                },
            ]
        } + [
            InjectionPlace(
                testDescription: "a host behind a tunnel", plan: { _ in ScriptPlan([demandsPassword]) },
                configure: { _, configuration, origin in
                    configuration.connectionProxyDictionary = [
                        "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(origin.port),
                    ]
                }, trace: .between("CONNECT ", ".test:443 "),
                use: { stage, text in _ = await stage.session.request("https://\(text).test/x").answered() }),
            InjectionPlace(
                testDescription: "a password in a proxy's URL", plan: { _ in ScriptPlan([demandsPassword]) },
                configure: { text, configuration, origin in
                    configuration.lupine.proxies = ["http_proxy": "http://u:\(text)@127.0.0.1:\(origin.port)"]
                }, trace: .base64("u:", ""),
                use: { stage, text in _ = await stage.session.request("http://elsewhere.test/x").answered() }),
        ]

    // MARK: servers

    /// Returns a place in a response's header. The next request, to the same URL or a redirect's target, may contain the string.
    private static func server(
        _ name: String, trace: Trace = .itself, status: String = "200 OK",
        authenticates: Bool = false, _ field: @escaping @Sendable (HostileStage, String) -> String
    ) -> InjectionPlace {
        InjectionPlace(testDescription: name, trace: trace) { stage, text in
            let head = "HTTP/1.1 \(status)\r\n\(field(stage, text))\r\nContent-Length: 2\r\n\r\nok"
            stage.origin.script("GET", "/set", ScriptPlan(.send(head), .close))
            for _ in 0..<2 {
                let request = stage.session.request(stage.url("/set"))
                if authenticates { request.authenticate(username: "u", password: "p") }
                _ = await request.answered()
            }
        }
    }

    static let servers: [InjectionPlace] = [
        server("a cookie's value in Set-Cookie") { "Set-Cookie: n=\($1)" },
        server("a cookie's name in Set-Cookie") { "Set-Cookie: \($1)=v" },
        server("a cookie's path in Set-Cookie", trace: .nowhere) { "Set-Cookie: n=v; Path=\($1)" },
        server("an entity tag") { "ETag: \"\($1)\"\r\nCache-Control: max-age=0" },
        server("a Last-Modified date") { "Last-Modified: \($1)\r\nCache-Control: max-age=0" },
        server("a path in Location", status: "302 Found") { stage, text in
            "Location: \(stage.url("/anything/"))\(text)"
        },
        server("a host in Location", status: "302 Found") { stage, text in
            "Location: http://\(text):\(stage.origin.port)/get"
        },
        server("a relative path in Location", status: "302 Found") { "Location: anything/\($1)" },
        server("a realm", status: "401 No", authenticates: true) {
            "WWW-Authenticate: Digest realm=\"\($1)\", nonce=\"n\", qop=\"auth\""
        },
        server("a nonce", status: "401 No", authenticates: true) {
            "WWW-Authenticate: Digest realm=\"r\", nonce=\"\($1)\", qop=\"auth\""
        },
        server("an opaque", status: "401 No", authenticates: true) {
            "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", opaque=\"\($1)\", qop=\"auth\""
        },
    ]

    // MARK: resume data

    private static func resuming(
        _ name: String, _ make: @escaping @Sendable (URL, String, String) -> ResumeData
    ) -> InjectionPlace {
        InjectionPlace(testDescription: name) { stage, text in
            let part = NSTemporaryDirectory() + "part-" + UUID().uuidString
            try Data("abc".utf8).write(to: URL(fileURLWithPath: part))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: part)
            defer { try? FileManager.default.removeItem(atPath: part) }
            guard let url = URL(string: stage.url("/range/100")), let data = make(url, part, text).data else {
                return
            }
            let whole = URL(fileURLWithPath: part + "-whole")
            defer { try? FileManager.default.removeItem(at: whole) }
            _ = await stage.session.download(resumingWith: data, to: { _, _ in (whole, []) }).answered()
        }
    }

    static let resumed: [InjectionPlace] = [
        resuming("an entity tag in resume data") {
            ResumeData(url: $0, fields: [], validator: .entityTag($2), received: 3, file: $1)
        },
        resuming("a date in resume data") {
            ResumeData(url: $0, fields: [], validator: .lastModified($2), received: 3, file: $1)
        },
        resuming("a header's value in resume data") {
            ResumeData(
                url: $0, fields: [.init(name: "X-Kept", value: $2)], validator: .entityTag("\"t\""),
                received: 3,
                file: $1)
        },
        resuming("a header's name in resume data") {
            ResumeData(
                url: $0, fields: [.init(name: $2, value: "v")], validator: .entityTag("\"t\""), received: 3,
                file: $1)
        },
    ]

    // MARK: web sockets

    static let sockets: [InjectionPlace] = [
        InjectionPlace(testDescription: "a web socket's protocol") { stage, text in
            let url = try stage.url("/get").replacing("http://", with: "ws://").asURL()
            let task = stage.session.session.webSocketTask(with: url, protocols: [text])
            task.resume()
            _ = try? await task.receive()
        }
    ]
}
