// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

@Suite(.timeLimit(.minutes(10)))
struct DriverRedirectTests {
    @Test("[U-5.1, U-19.2] a plain load")
    func plain() async throws {
        let script = HopScript([.status(200, [], "hello")])
        let load = DriverLoad(try DriverLoad.request(), script)
        let notes = await load.run()
        #expect(notes.log == ["sends", "response 200", "data", "caches", "end"])
        #expect(notes.data == Data("hello".utf8) && notes.error == nil)
        #expect(notes.metrics?.transactionMetrics.count == 1 && notes.metrics?.redirectCount == 0)
        #expect(notes.metrics?.transactionMetrics.first?.resourceFetchType == .networkLoad)
    }

    @Test("[U-16.3, T-1] an invalid request fails asynchronously, not during the call")
    func errorsComeLater() async throws {
        let rows: [(summary: String, change: (inout URLRequest) -> Void, code: URLError.Code)] = [
            ("no address", { $0.url = nil }, .unsupportedURL),
            ("an unknown scheme", { $0.url = URL(string: "gopher://h/") }, .unsupportedURL),
            ("a method that is none", { $0.httpMethod = "A B" }, .badURL),
        ]
        for row in rows {
            var request = try DriverLoad.request()
            row.change(&request)
            let load = DriverLoad(request, HopScript([]))
            #expect(!load.client.isCalled { load.driver.start() }, "\(row.summary)")
            let notes = await load.ended()
            #expect(notes.error?.code == row.code, "\(row.summary)")
            #expect(notes.log == ["end"] && notes.metrics?.transactionMetrics.isEmpty == true)
        }
    }

    @Test("[U-6.5, T-1] cancelled before the start, and while it runs")
    func cancelled() async throws {
        let early = DriverLoad(try DriverLoad.request(), HopScript([.status(200)]))
        #expect(!early.client.isCalled { early.driver.cancel(URLError(.cancelled)) })
        early.driver.start()
        let notes = await early.ended()
        #expect(
            notes.log == ["end"] && notes.error?.code == .cancelled
                && notes.metrics?.transactionMetrics.isEmpty == true)
        #expect(early.script.hops.isEmpty)

        let running = DriverLoad(try DriverLoad.request(), HopScript([.silence]))
        running.driver.start()
        #expect(!running.client.isCalled { running.driver.cancel(URLError(.cancelled)) })
        running.driver.cancel(URLError(.timedOut))
        let later = await running.ended()
        #expect(
            later.error?.code == .cancelled && later.log.last == "end"
                && later.metrics?.transactionMetrics.count == 1)
    }

    @Test(
        "[U-10.6, U-10.11, U-5.7] a chain: cookies of each response are sent with the next request, the last response is delivered",
        arguments: [false, true])
    func chain(isSlow: Bool) async throws {
        let script = HopScript([
            .status(
                302, [("Location", "/b"), ("Set-Cookie", "c=1"), ("Set-Cookie", "d=2; Path=/b")], "moved"),
            .redirect("c", 307), .status(200, [], "there"),
        ])
        var answers = RecordingClient.Answers()
        answers.isSlow = isSlow
        let load = DriverLoad(try DriverLoad.request(), script, answers)
        let notes = await load.run()
        #expect(
            notes.log == [
                "sends", "redirect 302", "sends", "redirect 307", "sends", "response 200", "data", "caches",
                "end",
            ])
        #expect(script.sent.map { $0.url?.absoluteString } == ["http://h/a", "http://h/b", "http://h/c"])
        #expect(script.sent.map { $0.value(forHTTPHeaderField: "Cookie") } == [nil, "d=2; c=1", "c=1"])
        #expect(notes.current.map(\.url) == script.sent.map(\.url))
        #expect(notes.data == Data("there".utf8))
        #expect(notes.metrics?.transactionMetrics.count == 3 && notes.metrics?.redirectCount == 2)
        #expect(script.hops.map(\.wasSkipped) == [true, true, false])
    }

    @Test("[U-10.8] answering nil delivers the redirect, with its body", arguments: [false, true])
    func notFollowed(isSlow: Bool) async throws {
        var answers = RecordingClient.Answers()
        answers.redirect = { _, _ in .some(nil) }
        answers.isSlow = isSlow
        let load = DriverLoad(try DriverLoad.request(), HopScript([.redirect("/b")]), answers)
        let notes = await load.run()
        #expect(notes.log == ["sends", "redirect 302", "response 302", "data", "end"])
        #expect(notes.data == Data("moved".utf8) && notes.error == nil)
        #expect(HTTPURLResponse.of(notes)?.url?.absoluteString == "http://h/a")
        #expect(notes.metrics?.redirectCount == 0)
    }

    @Test("[U-10.8] the program's request is sent unchanged, with cookies and the configuration's fields")
    func modified() async throws {
        let script = HopScript([.status(302, [("Location", "/b"), ("Set-Cookie", "c=1")]), .status(200)])
        let context = DriverLoad.context(
            script, DriverLoad.configuration { $0.httpAdditionalHeaders = ["X-Session": "s"] })
        var answers = RecordingClient.Answers()
        answers.redirect = { _, proposal in
            var request = proposal
            request.url = URL(string: "http://h/elsewhere")
            request.httpMethod = "PUT"
            request.httpBody = Data("new".utf8)
            request.setValue("own", forHTTPHeaderField: "Authorization")
            return request
        }
        let load = DriverLoad(try DriverLoad.request(), script, context: context, answers)
        _ = await load.run()
        let sent = try #require(script.sent.last)
        #expect(sent.url?.absoluteString == "http://h/elsewhere" && sent.httpMethod == "PUT")
        #expect(sent.httpBody == Data("new".utf8))
        #expect(
            sent.allHTTPHeaderFields == ["Authorization": "own", "X-Session": "s", "Cookie": "c=1"])
    }

    @Test("[U-10.10] the 21st redirect is an error, without calling the delegate")
    func tooMany() async throws {
        let load = DriverLoad(try DriverLoad.request(), HopScript([.redirect("x")]))
        let notes = await load.run()
        #expect(notes.error?.code == .httpTooManyRedirects)
        #expect(notes.error?.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "http://h/x"))
        #expect(notes.proposals.count == 20 && load.script.hops.count == 21)
        #expect(notes.metrics?.redirectCount == 20 && notes.metrics?.transactionMetrics.count == 21)
        #expect(notes.responses.isEmpty)
    }

    static let unusable: [(String, URLError.Code)] = [
        ("file:///etc/passwd", .unsupportedURL), ("data:,x", .unsupportedURL), ("ws://h/", .unsupportedURL),
        ("http://:1/", .redirectToNonExistentLocation),
    ]

    @Test("[U-10.1, U-10.3] an invalid target fails the load", arguments: unusable)
    func unusableTargets(location: String, code: URLError.Code) async throws {
        let load = DriverLoad(try DriverLoad.request(), HopScript([.redirect(location)]))
        let notes = await load.run()
        #expect(notes.log == ["sends", "end"] && notes.error?.code == code)
    }

    @Test("[U-10.5, 20.4] secrets of one origin reach no other, and do not return with a redirect back")
    func secrets() async throws {
        let script = HopScript([.redirect("http://g/"), .redirect("http://h/"), .status(200)])
        let context = DriverLoad.context(
            script,
            DriverLoad.configuration { $0.httpAdditionalHeaders = ["Authorization": "session", "X": "x"] })
        let request = try DriverLoad.request("http://h/a", "GET", ["Cookie": "own=1", "Origin": "o"])
        let load = DriverLoad(request, script, context: context)
        _ = await load.run()
        #expect(script.sent.map { $0.value(forHTTPHeaderField: "Authorization") } == ["session", nil, nil])
        #expect(script.sent.map { $0.value(forHTTPHeaderField: "Cookie") } == ["own=1", nil, nil])
        #expect(script.sent.map { $0.value(forHTTPHeaderField: "Origin") } == ["o", "null", "null"])
        #expect(script.sent.map { $0.value(forHTTPHeaderField: "X") } == ["x", "x", "x"])
        #expect(script.hops.map(\.request.usesClientIdentity) == [true, false, false])
    }

    @Test("[U-10.5] fields of the session are dropped as well, and do not return")
    func fieldsOfTheSession() async throws {
        let script = HopScript([
            .redirect("http://g/"), .redirect("https://g/"), .redirect("http://h/"), .redirect("https://g/"),
            .status(200),
        ])
        let context = DriverLoad.context(
            script,
            DriverLoad.configuration {
                $0.httpAdditionalHeaders = [
                    "X-Api-Key": "k", "X": "x", "Origin": "o", "Referer": "http://r/x", "Accept": "a",
                ]
            })
        _ = await DriverLoad(try DriverLoad.request("https://h/a"), script, context: context).run()
        func sent(_ name: String) -> [String?] { script.sent.map { $0.value(forHTTPHeaderField: name) } }
        #expect(sent("X-Api-Key") == ["k", nil, nil, nil, nil])
        #expect(sent("X") == ["x", nil, nil, nil, nil])
        #expect(sent("Origin") == ["o", nil, nil, nil, nil])
        #expect(sent("Referer") == ["http://r/x", nil, nil, nil, nil])
        #expect(sent("Accept") == ["a", "a", "a", "a", "a"])
    }

    @Test("[U-10.5] the session's identity is presented to the configured origins only")
    func namedOrigins() async throws {
        let script = HopScript([.redirect("https://g/"), .redirect("https://h/"), .status(200)])
        let context = DriverLoad.context(
            script,
            DriverLoad.configuration { $0.lupine.tls.identityOrigins = [.init(host: "G", port: 443)] })
        _ = await DriverLoad(try DriverLoad.request("https://h/a"), script, context: context).run()
        #expect(script.hops.map(\.request.usesClientIdentity) == [false, true, false])
    }

    @Test("[U-10.5] where https may not redirect to http, the program's request may not go there either")
    func insecureAnswers() async throws {
        for isProtocol in [false, true] {
            var redirecting = ScriptedAnswer()
            redirecting.protocolRedirect = try DriverLoad.request("http://h/b")
            let script = HopScript([isProtocol ? redirecting : .redirect("/b")], usesNetwork: !isProtocol)
            let context = DriverLoad.context(
                script, DriverLoad.configuration { $0.lupine.followsInsecureRedirects = false })
            var answers = RecordingClient.Answers()
            answers.redirect = { _, _ in try? DriverLoad.request("http://h/b") }
            let load = DriverLoad(
                try DriverLoad.request("https://h/a"), script, context: context, answers)
            let notes = await load.run()
            #expect(notes.error?.code == .appTransportSecurityRequiresSecureConnection)
            #expect(script.hops.count == 1 && notes.responses.isEmpty)
        }
    }

    @Test("[U-10.7, U-11.6] kept bodies are sent again, dropped ones are not")
    func bodies() async throws {
        for (status, isKept) in [(307, true), (302, false)] {
            let data = HopScript([.redirect("/b", status), .status(200)])
            _ = await DriverLoad(
                try DriverLoad.request("http://h/a", "POST"), kind: .upload, body: .data(Data("up".utf8)),
                data
            ).run()
            let bodies = data.hops.map { hop in
                if case .data(let data) = hop.request.body { data } else { hop.request.request.httpBody }
            }
            #expect(bodies == [Data("up".utf8), isKept ? Data("up".utf8) : nil])

            let own = HopScript([.redirect("/b", status), .status(200)])
            _ = await DriverLoad(try DriverLoad.request("http://h/a", "POST", body: "own"), own).run()
            #expect(own.sent.map(\.httpBody) == [Data("own".utf8), isKept ? Data("own".utf8) : nil])

            let stream = HopScript([.redirect("/b", status), .status(200)])
            var answers = RecordingClient.Answers()
            answers.stream = { BodyStream(InputStream(data: Data("x".utf8))) }
            let notes = await DriverLoad(
                try DriverLoad.request("http://h/a", "POST"), kind: .upload, body: .streamed, stream, answers
            ).run()
            #expect(notes.log.filter { $0 == "stream" }.count == (isKept ? 2 : 1))
            #expect(notes.error == nil)
        }
    }

    @Test("[U-10.7, T-15] a request's stream is sent once; its rest is not sent again")
    func streamsOfRequests() async throws {
        var request = try DriverLoad.request("http://h/a", "POST")
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        let load = DriverLoad(request, HopScript([.redirect("/b", 307), .status(200)]))
        let notes = await load.run()
        #expect(notes.error?.code == .requestBodyStreamExhausted)
        #expect(!notes.log.contains("stream") && load.script.hops.count == 1)

        request.httpBodyStream = InputStream(data: Data("x".utf8))
        var answers = RecordingClient.Answers()
        answers.redirect = { _, proposal in
            var proposal = proposal
            proposal.httpBodyStream = InputStream(data: Data("y".utf8))
            return proposal
        }
        let fresh = DriverLoad(request, HopScript([.redirect("/b", 307), .status(200)]), answers)
        #expect(await fresh.run().error == nil)
        #expect(fresh.script.hops.last?.sentBody == Data("read".utf8))
    }

    @Test("[U-7.5] without a stream the upload fails")
    func noStream() async throws {
        let load = DriverLoad(
            try DriverLoad.request("http://h/a", "POST"), kind: .upload, body: .streamed,
            HopScript([.status(200)]))
        let notes = await load.run()
        #expect(notes.error?.code == .requestBodyStreamExhausted && notes.log == ["sends", "stream", "end"])
    }

    @Test("[U-10.12, U-14.4] an unanswered redirect pauses the load until the resource time-out")
    func unanswered() async throws {
        let time = ManualLoadClock()
        let script = HopScript([.redirect("/b")])
        let context = DriverLoad.context(
            script, DriverLoad.configuration { $0.timeoutIntervalForResource = 10 }, clock: time.clock)
        var answers = RecordingClient.Answers()
        answers.redirect = { _, _ in nil }
        let load = DriverLoad(try DriverLoad.request(), script, context: context, answers)
        load.driver.start()
        await load.client.wait(for: "redirect 302")
        time.advance(by: .seconds(9))
        #expect(load.client.notes.ends == 0)
        time.advance(by: .seconds(1))
        let notes = await load.ended()
        #expect(notes.error?.code == .timedOut && notes.responses.isEmpty)
        // Late and repeated replies have no effect.
        let replies = load.client.takeRedirectReplies()
        #expect(replies.count == 1)
        for reply in replies { reply(nil) }
        for reply in replies { reply(try DriverLoad.request()) }
        #expect(script.hops.count == 1 && time.alarms == 0)
    }

    @Test("[U-5.10] a second answer is ignored")
    func twice() async throws {
        var answers = RecordingClient.Answers()
        answers.redirect = { _, _ in nil }
        let script = HopScript([.redirect("/b"), .status(200)])
        let load = DriverLoad(try DriverLoad.request(), script, answers)
        load.driver.start()
        await load.client.wait(for: "redirect 302")
        let reply = try #require(load.client.takeRedirectReplies().first)
        reply(try DriverLoad.request("http://h/c"))
        reply(nil)
        let notes = await load.ended()
        #expect(script.sent.last?.url?.absoluteString == "http://h/c" && notes.metrics?.redirectCount == 1)
    }

    @Test("[U-17.5] responses of a URLProtocol are not interpreted", arguments: [302, 401, 407])
    func protocols(status: Int) async throws {
        let script = HopScript(
            [
                .status(
                    status, [("Location", "/b"), ("WWW-Authenticate", "Basic"), ("Set-Cookie", "a=b")], "x")
            ],
            usesNetwork: false)
        let load = DriverLoad(try DriverLoad.request(), script)
        let notes = await load.run()
        #expect(notes.log == ["sends", "response \(status)", "data", "end"])
        #expect(load.context.settings.cookieStorage?.cookies?.isEmpty == true)
    }

    @Test("[U-17.6] a protocol's redirect calls the delegate, and is followed by another hop")
    func protocolRedirects() async throws {
        var redirecting = ScriptedAnswer()
        redirecting.protocolRedirect = try DriverLoad.request("http://h/b")
        let script = HopScript([redirecting, .status(200)], usesNetwork: false)
        let notes = await DriverLoad(try DriverLoad.request(), script).run()
        #expect(notes.log == ["sends", "redirect 302", "sends", "response 200", "caches", "end"])
        #expect(script.hops.first?.wasSkipped == true && notes.metrics?.redirectCount == 1)

        var answers = RecordingClient.Answers()
        answers.redirect = { _, _ in .some(nil) }
        let refused = await DriverLoad(
            try DriverLoad.request(), HopScript([redirecting], usesNetwork: false), answers
        ).run()
        #expect(refused.log == ["sends", "redirect 302", "response 302", "end"] && refused.error == nil)

        let endless = await DriverLoad(
            try DriverLoad.request(), HopScript([redirecting], usesNetwork: false)
        ).run()
        #expect(endless.error?.code == .httpTooManyRedirects && endless.metrics?.redirectCount == 20)
    }

    @Test("[U-6.4, U-9.14] suspension and priority are passed to the current hop and the next one")
    func holdAndPriority() async throws {
        var answers = RecordingClient.Answers()
        answers.redirect = { _, _ in nil }
        let script = HopScript([.redirect("/b"), .silence])
        let load = DriverLoad(try DriverLoad.request(), script, answers)
        load.driver.setPriority(0.25)
        load.driver.start()
        await load.client.wait(for: "redirect 302")
        load.driver.setSuspended(true)
        load.driver.setPriority(0.75)
        #expect(script.hops.first?.isSuspended == true && script.hops.first?.priority == 0.75)
        load.client.takeRedirectReplies().first?(try DriverLoad.request("http://h/b"))
        await script.waitForHops(2)
        let hop = try #require(script.hops.last)
        #expect(hop.request.priority == 0.75)
        // The priority is passed on after the hop was created.
        while !hop.isSuspended || hop.priority != 0.75 { await Task.yield() }
        load.driver.setSuspended(false)
        #expect(!hop.isSuspended)
        load.driver.cancel(URLError(.cancelled))
        _ = await load.ended()
    }
}
