// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

@testable import LupineTesting

/// Tests of exchanges that are recorded and replayed.
@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
    /// Calls `body` with a temporary folder, which is removed afterwards.
    static func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let result: Result<Void, any Error>
        do { result = .success(try await body(folder)) } catch { result = .failure(error) }
        try FileManager.default.removeItem(at: folder)
        try result.get()
    }

    static func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func whatWasRecordedIsReplayedWithoutTheServer() async throws {
        try await Self.inFolder { folder in
            let place = folder.appending(path: "recording")
            var texts: [String?] = []
            func run(_ session: Session, _ base: URL) async -> [String?] {
                var texts: [String?] = []
                for path in ["/count", "/count", "/moved", "/bytes"] {
                    let response = await session.request(base.appending(path: path)).serializingData()
                        .response
                    texts.append(response.data?.base64EncodedString())
                }
                let posted = await session.request(
                    base.appending(path: "/echo"), method: .post, parameters: ["name": "lupin"],
                    encoder: .json
                ).serializingString().response
                texts.append(posted.value)
                let lost = await session.request(base.appending(path: "/lost")).serializingData().response
                texts.append((lost.error?.underlyingError as? URLError).map { "\($0.code.rawValue)" })
                return texts
            }
            let origin = try await TestOrigin.start()
            origin.route("GET", "/count") { [weak origin] _ in .text("\(origin?.requests.count ?? 0)") }
            origin.route("GET", "/moved", .redirect(to: "/count"))
            origin.route("GET", "/bytes", .data(Data([0, 255, 10, 128])))
            origin.route("POST", "/echo") { .data($0.body, contentType: "application/json") }
            origin.route("GET", "/lost", .text("0123456789").cut(after: 3))
            let recorder = try Recorder(into: place)
            texts = await run(recorder.session(), origin.url)
            await origin.shutdown()
            try recorder.verify()
            #expect(recorder.count == 7)
            #expect(texts[0] == Data("1".utf8).base64EncodedString() && texts[0] != texts[1])
            #expect(texts[5] == "\(URLError.Code.networkConnectionLost.rawValue)")

            let stubs = try Stubs.replaying(place)
            #expect(await run(stubs.session(), origin.url) == texts)
            try stubs.verify()
            let more = await stubs.session().request(origin.url.appending(path: "/count")).serializingData()
                .response
            #expect(more.error?.underlyingError is StubError)
            #expect(throws: StubError.self) { try Stubs.replaying(place).verify() }
            #expect(throws: RecordingError.inUse(path: place.path)) { try Recorder(into: place) }

            #expect(try Self.names(place).first?.hasPrefix("0001-GET-127-0-0-1-") == true)
            for name in try Self.names(place) {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: place.appending(path: name).path)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
        }
    }

    @Test func secretsAreLeftOut() async throws {
        try await Self.inFolder { folder in
            let secret = "s3cr3t"
            let answer = #"{"access_token":"\#(secret)","of":[{"password":"\#(secret)","key":"kept"}]}"#
            try await withOrigin { origin in
                origin.route(
                    "POST", "/login",
                    .data(Data(answer.utf8), contentType: "application/json").header(
                        "Set-Cookie", "id=\(secret)"
                    )
                    .header("X-Own", secret).header("Link", "</next?token=\(secret)>"))
                let recorder = try Recorder(into: folder, redacting: RecordingRedaction(["x-own", "mine"]))
                func ask(_ session: Session) async -> AFDataResponse<String> {
                    await session.request(
                        origin.url("/login?access_token=\(secret)&page=2&mine=\(secret)#token=\(secret)"),
                        method: .post,
                        parameters: ["password": secret, "user": "lupin"],
                        headers: ["Authorization": "Bearer \(secret)", "Cookie": secret, "X-Api-Key": secret]
                    ).serializingString().response
                }
                // The program gets the server's response unchanged.
                #expect(await ask(recorder.session()).value == answer)
                try recorder.verify()
                let name = try #require(try Self.names(folder).first)
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                #expect(!text.contains(secret), "\(text)")
                #expect(text.contains("page=2") && text.contains("user=lupin") && text.contains("kept"))

                let stubs = try Stubs.replaying(folder, redacting: RecordingRedaction(["x-own", "mine"]))
                let replayed = await ask(stubs.session())
                #expect(replayed.value?.contains(#""access_token":"[redacted]""#) == true)
                try stubs.verify()
            }
        }
    }

    @Test func namesOfSecretsAreLeftOutOfEveryAddress() throws {
        let redaction = RecordingRedaction(["hint"])
        let address = "http://a.test/b?HINT=s3cr3t&c=1&h%69nt=s3cr3t#hint=s3cr3t"
        let clean = "http://a.test/b?HINT=[redacted]&c=1&h%69nt=[redacted]#hint=[redacted]"
        #expect(redaction.url(try #require(URL(string: address))) == clean)
        #expect(redaction.text("no answer from \(address)") == "no answer from \(clean)")
        let headers = redaction.headers(TestHeaders([TestHeaders.Field("Location", address)]))
        #expect(headers["Location"] == clean)
    }

    /// Checks that a mark that combines with the octet before it does not hide a secret.
    @Test func secretsBehindMarksAreLeftOut() {
        let redaction = RecordingRedaction(["mine"])
        let form = redaction.body(
            Data("a=1&password=\u{301}s3cr3t&mine=\u{301}s3cr3t\u{301}&b=\u{301}2".utf8),
            type: "application/x-www-form-urlencoded")
        #expect(
            String(decoding: form, as: UTF8.self) == "a=1&password=[redacted]&mine=[redacted]&b=\u{301}2")
        let long = String(repeating: "x", count: 5_000) + "=1"
        #expect(redaction.body(Data(long.utf8), type: "application/x-www-form-urlencoded") == Data(long.utf8))
    }

    @Test(arguments: [
        ("", "no JSON"), ("[]", "no object"), ("{\"version\":1}", "no request"),
        (#"{"version":1,"request":{"method":"GET","url":"/"}}"#, "no outcome"),
        (#"{"version":1,"request":{"method":"G T","url":"/"},"error":{"domain":"d","code":1}}"#, "method"),
        (
            #"{"version":1,"request":{"method":"GET","url":"/","text":"a","base64":"YQ=="},"error":{"domain":"d","code":1}}"#,
            "two bodies"
        ),
        (
            #"{"version":1,"request":{"method":"GET","url":"/","base64":"*"},"error":{"domain":"d","code":1}}"#,
            "no BASE64"
        ),
        (#"{"version":1,"request":{"method":"GET","url":"/"},"response":{"status":99}}"#, "status"),
        (
            #"{"version":1,"request":{"method":"GET","url":"/"},"response":{"status":200,"headers":["x"]}}"#,
            "no colon"
        ),
        (
            #"{"version":1,"request":{"method":"GET","url":"/"},"response":{"status":200,"headers":["x: a\nb"]}}"#,
            "line end"
        ),
        (
            #"{"version":1,"request":{"method":"GET","url":"/"},"response":{"status":200},"error":{"domain":"d","code":1}}"#,
            "both"
        ),
        (String(repeating: "[", count: 100_000), "depth"),
    ])
    func whatIsNoRecordingIsSaid(_ text: String, _ why: String) {
        let error = #expect(throws: RecordingError.self, "\(why)") {
            try RecordedExchange(Data(text.utf8), path: "a.json")
        }
        guard case .malformed(path: "a.json", _)? = error else {
            Issue.record("\(why): \(String(describing: error))")
            return
        }
    }

    @Test func aRecordingReadsBackAsItWasWritten() throws {
        let request = RecordedExchange.Request(
            method: "GET", url: "/", headers: ["A": "1", "B": "2"], body: Data([255]))
        for outcome in [
            RecordedExchange.Outcome.response(
                status: 200, headers: ["C": ""], body: Data("\u{FEFF}a\r\nb".utf8)),
            .response(status: 204, headers: [:], body: Data()),
            .failure(domain: NSURLErrorDomain, code: -1001, text: "late"),
        ] {
            let exchange = RecordedExchange(request, outcome)
            #expect(try RecordedExchange(exchange.data(), path: "") == exchange)
        }
        let later = Data(#"{"version":2,"request":{"method":"GET","url":"/"}}"#.utf8)
        #expect(throws: RecordingError.unsupportedVersion(path: "p", version: 2)) {
            try RecordedExchange(later, path: "p")
        }
    }

    @Test func limitsNameThemselves() async throws {
        try await Self.inFolder { folder in
            #expect(throws: RecordingError.empty(path: folder.path)) { try Stubs.replaying(folder) }
            let missing = folder.appending(path: "missing")
            #expect(throws: RecordingError.self) { try Stubs.replaying(missing) }
            let exchange = RecordedExchange(
                .init(method: "GET", url: "/", headers: [:], body: Data()),
                .response(status: 200, headers: [:], body: Data("content".utf8)))
            let whole = RecordingFolder(url: folder, limits: RecordingLimits())
            for number in 1...3 { try whole.write(exchange, number: number) }
            let size = try exchange.data().count
            var limits = RecordingLimits()
            (limits.fileBytes, limits.files, limits.totalBytes) = (size, 3, 3 * size)
            #expect(try Stubs.replaying(folder, limits: limits).requests.isEmpty)
            limits.totalBytes -= 1
            #expect(throws: RecordingError.tooLarge(path: folder.path, limit: 3 * size - 1)) {
                try Stubs.replaying(folder, limits: limits)
            }
            limits.fileBytes -= 1
            #expect(throws: RecordingError.self) { try Stubs.replaying(folder, limits: limits) }
            limits.files = 2
            #expect(throws: RecordingError.tooMany(path: folder.path, limit: 2)) {
                try Stubs.replaying(folder, limits: limits)
            }
            // A folder with such a name is not a recording.
            try FileManager.default.createDirectory(
                at: folder.appending(path: "9.json"), withIntermediateDirectories: false)
            #expect(throws: RecordingError.self) { try Stubs.replaying(folder) }
        }
    }

    @Test func whatCannotBeWrittenIsSaidAndTheProgramGoesOn() async throws {
        try await Self.inFolder { folder in
            try await withOrigin { origin in
                origin.route("GET", "/", .text("answer"))
                let file = folder.appending(path: "file")
                try Data().write(to: file)
                let recorder = try Recorder(into: file.appending(path: "below"))
                #expect(
                    try await recorder.session().request(origin.url).serializingString().value == "answer")
                #expect(throws: RecordingError.self) { try recorder.verify() }
            }
        }
    }
}
