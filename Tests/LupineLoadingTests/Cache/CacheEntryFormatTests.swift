// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import Testing

@testable import LupineLoading

struct CacheEntryFormatTests {
    final class OwnResponse: HTTPURLResponse, @unchecked Sendable {}

    static let address = "http://h/a"
    static let time = Date(timeIntervalSinceReferenceDate: 700_000_000.25)

    static func entry(_ response: URLResponse, userInfo: [AnyHashable: Any]? = nil, content: String = "hello")
        throws -> CacheEntry
    {
        let request = try CacheStage.request("http://h/a", ["Accept": "x", "Authorization": "s"])
        return CacheEntry(
            response: CachedURLResponse(
                response: response, data: Data(content.utf8), userInfo: userInfo, storagePolicy: .allowed),
            for: request, requestTime: time, responseTime: time.addingTimeInterval(2))
    }

    static func responses() throws -> [(summary: String, response: URLResponse)] {
        let url = try #require(URL(string: "http://h/a?b=%20c"))
        let lines = [
            ("content-type", "Text/Plain; charset=UTF-8"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2"),
            ("Vary", "Accept"), ("X-Empty", ""), ("Content-Length", "5"),
        ]
        var latin = Fields()
        let octets: [UInt8] = [0x63, 0xE9]
        try latin.append(FieldName("X-Latin"), octets.span)
        return [
            ("loaded", HTTPURLResponse(url: url, head: try CacheStage.head(lines), isDecoded: false)),
            ("decoded", HTTPURLResponse(url: url, head: try CacheStage.head(lines), isDecoded: true)),
            ("204", HTTPURLResponse(url: url, head: try CacheStage.head([], status: 204), isDecoded: false)),
            (
                "Latin-1",
                HTTPURLResponse(
                    url: url, head: ResponseHead(status: Status(200), fields: latin), isDecoded: false)
            ),
            (
                "made by a program",
                try #require(
                    HTTPURLResponse(
                        url: url, statusCode: 299, httpVersion: nil,
                        headerFields: ["Content-Type": "a/b", "x-y": "é\n"]))
            ),
            (
                "not HTTP",
                URLResponse(url: url, mimeType: "a/b", expectedContentLength: -1, textEncodingName: nil)
            ),
            (
                "not HTTP, known length",
                URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: "utf-8")
            ),
        ]
    }

    @Test("the user of a URL is not written") func users() throws {
        let url = try #require(URL(string: "http://alice:s3cret@h/a"))
        let responses = [
            URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil),
            try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])),
            HTTPURLResponse(url: url, head: try CacheStage.head([]), isDecoded: false),
        ]
        for response in responses {
            let octets = try #require(
                CacheEntryFormat.octets(of: Self.entry(response), address: Self.address))
            let text = String(decoding: octets, as: UTF8.self)
            #expect(!text.contains("s3cret") && !text.contains("alice"), "\(type(of: response))")
            let read = try #require(CacheEntryFormat.entry(octets, address: Self.address))
            #expect(read.response.response.url?.absoluteString == "http://h/a")
        }
    }

    @Test("an entry whose URL has a user is refused")
    func usersOfOthers() throws {
        let url = try #require(URL(string: "http://alice.h/a"))
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil)
        let octets = try #require(CacheEntryFormat.octets(of: Self.entry(response), address: Self.address))
        var metadata = Array(octets[CacheEntryFormat.headLength..<(octets.count - 5)])
        let dot = try #require(metadata.firstIndex(of: UInt8(ascii: ".")))
        func read() -> CacheEntry? {
            let sealed = CacheEntryFormat.sealed(
                metadata: metadata, content: Array("hello".utf8), storedTime: Self.time)
            return CacheEntryFormat.entry(sealed, address: Self.address)
        }
        #expect(read()?.response.response == response)
        metadata[dot] = UInt8(ascii: "@")
        #expect(read() == nil)
    }

    @Test("the URL of the request is used for the response only if it is the same")
    func likelyURLs() throws {
        let base = try #require(URL(string: "http://h/"))
        let likely = [
            nil, "http://h/a", "http://h/b", "http://h/a#b", "http://alice:s3cret@h/a", "HTTP://h/a",
        ].map { $0.flatMap { URL(string: $0) } }
        let url = try #require(URL(string: "http://h/a"))
        let octets = try #require(
            CacheEntryFormat.octets(
                of: Self.entry(HTTPURLResponse(url: url, head: try CacheStage.head([]), isDecoded: false)),
                address: Self.address))
        for likely in likely + [URL(string: "a", relativeTo: base)] {
            let read = try #require(CacheEntryFormat.entry(octets, address: Self.address, url: likely))
            let readURL = try #require(read.response.response.url)
            #expect(readURL == url && readURL.baseURL == nil, "\(likely?.absoluteString ?? "none")")
        }
    }

    @Test func roundTrip() throws {
        for (summary, response) in try Self.responses() {
            let entry = try Self.entry(response, userInfo: ["k": ["v", 1]])
            let octets = try #require(CacheEntryFormat.octets(of: entry, address: Self.address), "\(summary)")
            let read = try #require(CacheEntryFormat.entry(octets, address: Self.address), "\(summary)")
            #expect(read.response.response == response, "\(summary)")
            #expect(
                read.response.response.expectedContentLength == response.expectedContentLength, "\(summary)")
            #expect(
                (read.response.response as? HTTPURLResponse)?.fields
                    == (response as? HTTPURLResponse)?.fields,
                "\(summary)")
            #expect(read.response == entry.response, "\(summary)")
            #expect(read.vary == CacheTerms(entry)?.vary, "\(summary)")
            #expect(read.requestTime == entry.requestTime && read.responseTime == entry.responseTime)
            #expect(read.storedTime == entry.storedTime)
            // The hashes of the terms have another length than the values.
            #expect(read.size - read.vary.size == entry.size - entry.vary.size)
            #expect(CacheEntryFormat.octets(of: read, address: Self.address) == octets, "\(summary)")
        }
    }

    @Test("[U-12.16] an entry that was cut, extended or changed in any bit is refused")
    func everyDamageIsSeen() throws {
        let url = try #require(URL(string: "http://h/a"))
        let head = try CacheStage.head([("ETag", "\"a\""), ("Vary", "Accept")])
        let entry = try Self.entry(
            HTTPURLResponse(url: url, head: head, isDecoded: false), userInfo: ["k": "v"])
        let octets = try #require(CacheEntryFormat.octets(of: entry, address: Self.address))
        #expect(CacheEntryFormat.entry(octets, address: Self.address) != nil)
        for count in 0..<octets.count {
            #expect(CacheEntryFormat.entry(Array(octets[..<count]), address: Self.address) == nil, "\(count)")
        }
        #expect(CacheEntryFormat.entry(octets + [0], address: Self.address) == nil)
        for index in octets.indices {
            for bit in 0..<8 {
                var changed = octets
                changed[index] ^= 1 << bit
                #expect(CacheEntryFormat.entry(changed, address: Self.address) == nil, "\(index), \(bit)")
            }
        }
        #expect(CacheEntryFormat.entry(octets, address: "http://h/b") == nil)
    }

    @Test("provenance with any content and a correct checksum is read or refused")
    func sealedNonsense() throws {
        let response = try #require(try Self.responses().first).response
        let entry = try Self.entry(response, userInfo: ["k": [1, "v"]])
        let octets = try #require(CacheEntryFormat.octets(of: entry, address: Self.address))
        let metadata = Array(octets[CacheEntryFormat.headLength..<(octets.count - entry.response.data.count)])
        func read(_ metadata: [UInt8]) -> CacheEntry? {
            CacheEntryFormat.entry(
                CacheEntryFormat.sealed(
                    metadata: metadata, content: Array(entry.response.data), storedTime: Self.time),
                address: Self.address)
        }
        #expect(read(metadata)?.response == entry.response)
        for count in metadata.indices { #expect(read(Array(metadata[..<count])) == nil, "\(count)") }
        #expect(read(metadata + [0]) == nil)
        for index in metadata.indices {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var changed = metadata
                changed[index] = value
                _ = read(changed)
            }
        }
    }

    @Test(
        "a status that no server can send is neither written nor read",
        arguments: [Int.min, -7, 0, 99, 1000, .max])
    func impossibleStatus(_ status: Int) throws {
        let url = try #require(URL(string: "http://h/a"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        #expect(CacheEntryFormat.octets(of: try Self.entry(response), address: Self.address) == nil)
        let possible = try #require(
            HTTPURLResponse(url: url, statusCode: 299, httpVersion: nil, headerFields: nil))
        let octets = try #require(
            CacheEntryFormat.octets(of: try Self.entry(possible), address: Self.address))
        var metadata = Array(octets[CacheEntryFormat.headLength..<(octets.count - 5)])
        // The status follows the address with its length, two times, the kind, and the URL with its length.
        let place = 8 + Self.address.utf8.count + 8 + 8 + 1 + 8 + url.absoluteString.utf8.count
        func number(_ status: Int) -> [UInt8] {
            var writer = OctetWriter()
            writer.write(Int64(status))
            return writer.octets
        }
        #expect(Array(metadata[place..<place + 8]) == number(299))
        metadata.replaceSubrange(place..<place + 8, with: number(status))
        let sealed = CacheEntryFormat.sealed(
            metadata: metadata, content: Array("hello".utf8), storedTime: Self.time)
        #expect(CacheEntryFormat.entry(sealed, address: Self.address) == nil)
    }

    @Test func subclassesAreNotWritten() throws {
        let url = try #require(URL(string: "http://h/a"))
        let own = try #require(
            OwnResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        #expect(CacheEntryFormat.octets(of: try Self.entry(own), address: Self.address) == nil)
    }

    @Test("[U-12.3] the part of userInfo that a property list can hold is written")
    func userInfo() throws {
        let response = try #require(try Self.responses().first).response
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        let info: [AnyHashable: Any] = [
            "text": "é", "data": Data([1, 2]), "date": date, "yes": true, "no": false, "int": -5,
            "small": UInt8(9), "double": 0.1, "float": Float(0.5), "list": [1, "a", [true]] as [Any],
            "map": ["a": ["b": 1]], "number": NSNumber(value: 7), "none": [String](),
        ]
        let octets = try #require(
            CacheEntryFormat.octets(of: try Self.entry(response, userInfo: info), address: Self.address))
        let read = try #require(CacheEntryFormat.entry(octets, address: Self.address)?.response.userInfo)
        #expect(read.count == info.count)
        #expect(read["text"] as? String == "é" && read["data"] as? Data == Data([1, 2]))
        #expect(read["date"] as? Date == date && read["yes"] as? Bool == true && read["no"] as? Bool == false)
        #expect(read["int"] as? Int == -5 && read["small"] as? Int == 9 && read["number"] as? Int == 7)
        #expect(read["double"] as? Double == 0.1 && read["float"] as? Double == 0.5)
        #expect(((read["list"] as? [Any])?[2] as? [Any])?.first as? Bool == true)
        #expect(((read["map"] as? [String: Any])?["a"] as? [String: Any])?["b"] as? Int == 1)
        #expect((read["none"] as? [Any])?.isEmpty == true)
        let strange: [[AnyHashable: Any]] = [
            ["object": NSObject()], [1: "number as key"], ["deep": [[NSObject()]]],
        ]
        for info in strange {
            let octets = try #require(
                CacheEntryFormat.octets(of: try Self.entry(response, userInfo: info), address: Self.address))
            let read = try #require(CacheEntryFormat.entry(octets, address: Self.address))
            #expect(read.response.userInfo == nil)
        }
    }

    @Test(arguments: [(31, true), (32, false)])
    func theDeepestValue(depth: Int, isStored: Bool) {
        var value: Any = 1
        for _ in 0..<depth { value = [value] }
        #expect((StorableValue(value) != nil) == isStored)
    }
}
