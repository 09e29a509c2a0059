// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

/// The data that a program keeps between two attempts of a download.
struct ResumeDataTests {
    static func sample(file: String = "/tmp/part") throws -> ResumeData {
        ResumeData(
            url: try #require(URL(string: "https://files.example/big%20file?x=1#end")),
            fields: [
                HeaderList.Field(name: "X-Key", value: "a, b"),
                HeaderList.Field(name: "Accept", value: "*/*"),
            ],
            validator: .entityTag("\"v/1\""), received: 1 << 40, file: file)
    }

    @Test("[U-7.14] resume data is read as it was written") func roundTrip() throws {
        let sample = try Self.sample()
        #expect(ResumeData(try #require(sample.data)) == sample)
    }

    @Test("[U-7.14] the request has Range and If-Range") func requestForTheRest()
        throws
    {
        let request = try Self.sample().request
        #expect(request.url?.absoluteString == "https://files.example/big%20file?x=1#end")
        #expect(request.value(forHTTPHeaderField: "Range") == "bytes=1099511627776-")
        #expect(request.value(forHTTPHeaderField: "If-Range") == "\"v/1\"")
        #expect(request.value(forHTTPHeaderField: "Accept-Encoding") == "identity")
        #expect(request.value(forHTTPHeaderField: "X-Key") == "a, b")
    }

    @Test("[U-7.14] cookies are sent as with the request that was stopped", arguments: [true, false])
    func cookies(_ areHandled: Bool) throws {
        var stopped = URLRequest(url: try #require(URL(string: "http://h/a")))
        stopped.httpShouldHandleCookies = areHandled
        stopped.mainDocumentURL = URL(string: "http://other/")
        let data = ResumeData(
            url: try #require(stopped.url), fields: [], validator: .entityTag("\"v\""), received: 1,
            file: "/nowhere/part", cookiesAsIn: stopped)
        let written = try #require(data.data)
        let read = try #require(ResumeData(written))
        // The part is missing, so the second request asks for the whole file.
        let store = DownloadStore(resuming: read, folder: FileManager.default.temporaryDirectory)
        for request in [read.request, store.requestToSend] {
            #expect(request.httpShouldHandleCookies == areHandled)
            #expect(request.mainDocumentURL == stopped.mainDocumentURL)
        }
    }

    @Test("[U-7.14] resume data that was cut is refused") func everyCut() throws {
        let sample = try Self.sample()
        let data = try #require(sample.data)
        for count in 0..<data.count { #expect(ResumeData(data.prefix(count)) == nil, "\(count) bytes") }
    }

    @Test("resume data with a changed byte is refused, or is valid") func everyByteChanged()
        throws
    {
        let sample = try Self.sample()
        let data = try #require(sample.data)
        for index in data.indices {
            for bit in 0..<8 {
                var changed = data
                changed[index] ^= 1 << UInt8(bit)
                guard let read = ResumeData(changed) else { continue }
                #expect(read.received > 0 && read.file.hasPrefix("/"))
                #expect(read.data.flatMap { ResumeData($0) } == read)
            }
        }
    }

    @Test(
        "[U-7.14] impossible resume data is refused",
        arguments: [
            ("\"received\":1099511627776", "\"received\":0"),
            ("\"received\":1099511627776", "\"received\":-1"),
            ("\"received\":1099511627776", "\"received\":1e300"), ("https://", "file://"),
            ("\"/tmp/part\"", "\"tmp/part\""), ("a, b", "a\\r\\nEvil: 1"), ("v/1", "v\\n1"),
            ("lupine-download-1", "lupine-download-2"),
        ])
    func unsound(_ old: String, _ new: String) throws {
        let sample = try Self.sample()
        let text = String(decoding: try #require(sample.data), as: UTF8.self)
        #expect(text.contains(old))
        #expect(ResumeData(Data(text.replacingOccurrences(of: old, with: new).utf8)) == nil)
    }
}
