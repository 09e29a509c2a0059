// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineLoading

struct DataURLTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var text: String
        var type = "text/plain"
        var charset: String?
        /// Nil if the URL has no readable content.
        var content: String?
    }

    static let rows = [
        Row(testDescription: "the shortest", text: "data:,", charset: "US-ASCII", content: ""),
        Row(
            testDescription: "plain", text: "data:,A%20brief%20note", charset: "US-ASCII",
            content: "A brief note"),
        Row(testDescription: "a type", text: "DATA:Text/HTML,<p>", type: "text/html", content: "<p>"),
        Row(
            testDescription: "a charset", text: "data:text/plain;charset=UTF-8;x=y,%C3%A4", charset: "UTF-8",
            content: "ä"),
        Row(
            testDescription: "a charset alone", text: "data:;charset=utf-16,x", charset: "utf-16",
            content: "x"),
        Row(
            testDescription: "a quoted charset", text: "data:text/a;Charset=\"utf-8\",x", type: "text/a",
            charset: "utf-8", content: "x"),
        Row(testDescription: "base64", text: "data:;base64,SGVsbG8=", charset: "US-ASCII", content: "Hello"),
        Row(testDescription: "two pads", text: "data:;base64,SGVsbA==", charset: "US-ASCII", content: "Hell"),
        Row(
            testDescription: "no padding", text: "data:;base64,SGVsbG8", charset: "US-ASCII", content: "Hello"
        ),
        Row(
            testDescription: "base64 in capitals, with blanks",
            text: "data:image/x;a=b; BASE64 ,SG Vs%20bG%0A8%3D", type: "image/x", content: "Hello"),
        Row(
            testDescription: "percent-decoded before base64", text: "data:;base64,%53GVsbG8=",
            charset: "US-ASCII", content: "Hello"),
        Row(
            testDescription: "base64 is a type here", text: "data:base64,SGVs", type: "base64",
            content: "SGVs"),
        Row(
            testDescription: "base64 not last", text: "data:text/a;base64;b=c,SGVs", type: "text/a",
            content: "SGVs"),
        Row(
            testDescription: "a comma in the content", text: "data:,a,b", charset: "US-ASCII", content: "a,b"),
        Row(
            testDescription: "a stray percent sign", text: "data:,100%&%4", charset: "US-ASCII",
            content: "100%&%4"),
        Row(testDescription: "a fragment", text: "data:,a%23b#c", charset: "US-ASCII", content: "a#b"),
        Row(
            testDescription: "an invalid type and charset",
            text: "data:a%0D%0Ab;charset=%22x%0Ay%22,z",
            charset: "US-ASCII", content: "z"),
        Row(
            testDescription: "a charset between blanks in quotes", text: "data:a/b;charset=%22 x%0A%22,z",
            type: "a/b", charset: "x", content: "z"),
        Row(testDescription: "no comma", text: "data:text/plain"),
        Row(testDescription: "a comma after the fragment", text: "data:a#b,c"),
        Row(testDescription: "another scheme", text: "date:,x"),
        Row(testDescription: "nothing", text: ""),
        Row(testDescription: "an invalid base64 character", text: "data:;base64,SGV*"),
        Row(testDescription: "half a byte", text: "data:;base64,SGVsb"),
        Row(testDescription: "padding in the middle", text: "data:;base64,SG=sbG8="),
        Row(testDescription: "too much padding", text: "data:;base64,SGVs===="),
        Row(testDescription: "the other alphabet", text: "data:;base64,-_-_"),
    ]

    @Test("[U-18.2] data URLs", arguments: rows)
    func reads(_ row: Row) {
        let read = DataURL(row.text)
        #expect(read.map { String(decoding: $0.content, as: UTF8.self) } == row.content)
        guard let read else { return }
        #expect(read.mimeType == row.type && read.charset == row.charset)
    }

    @Test("[U-18.2, U-18.3] a load has a plain response of known length, is never cached, and may be held")
    func loads() async throws {
        let url = try #require(
            URL(string: "data:text/x;charset=UTF-8,\(String(repeating: "ab", count: 50_000))"))
        let witness = HopWitness()
        let load = DataURLLoad(URLRequest(url: url), client: witness)
        load.setSuspended(true)
        load.start()
        #expect(witness.log.value.order.isEmpty)
        load.setSuspended(false)
        let log = await witness.end()
        #expect(log.order == ["response", "data", "data", "end"])
        #expect(log.response is HTTPURLResponse == false && log.response?.url == url)
        #expect(log.response?.expectedContentLength == 100_000 && log.response?.mimeType == "text/x")
        #expect(log.response?.textEncodingName == "UTF-8" && log.policy == .notAllowed)
        #expect(log.body.count == 100_000 && log.pieces.first?.count == 65_536 && log.error == nil)
        #expect(log.metrics?.fetchType == .unknown && log.metrics?.bodyBytesAfterDecoding == 100_000)
    }

    @Test("[U-18.2] an invalid data URL fails as badURL")
    func fails() async throws {
        for text in ["data:text/plain", "data:;base64,*"] {
            let witness = HopWitness()
            DataURLLoad(URLRequest(url: try #require(URL(string: text))), client: witness).start()
            let log = await witness.end()
            #expect(log.order == ["end"] && log.error?.code == .badURL)
        }
    }

    @Test("[U-18.3] cancelled before its start, while held, and in the middle")
    func cancelled() async throws {
        let url = try #require(URL(string: "data:,\(String(repeating: "a", count: 200_000))"))
        let error = URLError(.cancelled)
        let never = HopWitness()
        let first = DataURLLoad(URLRequest(url: url), client: never)
        first.cancel(error)
        first.start()
        let early = await never.end()
        #expect(early.order == ["end"] && early.error?.code == .cancelled)
        let held = HopWitness()
        let second = DataURLLoad(URLRequest(url: url), client: held)
        second.setSuspended(true)
        second.start()
        second.cancel(error)
        let log = await held.end()
        #expect(log.order == ["end"] && log.error?.code == .cancelled)
        let middle = HopWitness(demand: { _ in .pause })
        let third = DataURLLoad(URLRequest(url: url), client: middle)
        third.start()
        await middle.dataReceived.wait()
        third.cancel(error)
        third.cancel(URLError(.timedOut))
        let late = await middle.end()
        #expect(late.order == ["response", "data", "end"] && late.error?.code == .cancelled)
    }

    @Test func refusedContentEndsAsASuccess() async throws {
        let url = try #require(URL(string: "data:,\(String(repeating: "a", count: 200_000))"))
        for (plan, demand, order) in [
            (HopPlan.skip, Demand.more, ["response", "end"]),
            (.deliver, .enough, ["response", "data", "end"]),
        ] {
            let witness = HopWitness(plan: { _ in plan }, demand: { _ in demand })
            DataURLLoad(URLRequest(url: url), client: witness).start()
            let log = await witness.end()
            #expect(log.order == order && log.error == nil)
        }
    }

    @Test func resumingDuringAPausingCallContinues() async throws {
        let url = try #require(URL(string: "data:,\(String(repeating: "a", count: 200_000))"))
        let opened = LockedValue<DataURLLoad?>(nil)
        let witness = HopWitness(
            plan: { _ in
                opened.value?.resumeReading()
                return .pause
            },
            demand: { _ in
                opened.value?.resumeReading()
                return .pause
            })
        let load = DataURLLoad(URLRequest(url: url), client: witness)
        opened.set(load)
        load.start()
        let log = await witness.end()
        #expect(log.body.count == 200_000 && log.overlaps == 0)
        opened.set(nil)
    }

    @Test func aPausedClientGetsNothing() async throws {
        let url = try #require(URL(string: "data:,\(String(repeating: "a", count: 200_000))"))
        let witness = HopWitness(plan: { _ in .pause }, demand: { _ in .pause })
        let load = DataURLLoad(URLRequest(url: url), client: witness)
        load.start()
        await witness.responseReceived.wait()
        for pieces in 0...4 {
            while witness.log.value.pieces.count < pieces { await Task.yield() }
            #expect(witness.log.value.pieces.count == pieces)
            load.resumeReading()
        }
        let log = await witness.end()
        #expect(log.body.count == 200_000 && log.overlaps == 0)
    }
}
