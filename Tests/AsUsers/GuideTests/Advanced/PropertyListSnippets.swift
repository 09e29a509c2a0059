// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Property lists, which the guide to Alamofire 4 presents as a third encoding and as a response handler.
@Suite struct PropertyListSnippets {
    struct Settings: Codable, Sendable, Equatable {
        var name = "lupine"
        var sizes = [1, 2, 3]
    }

    @Test func parametersAreAPropertyList() async throws {
        try await HTTPBin.serve { httpbin in
            let dictionary: Parameters = ["name": "lupine", "sizes": [1, 2, 3]]
            let requests = [
                AF.request(
                    "\(httpbin)/post", method: .post, parameters: dictionary,
                    encoding: PropertyListEncoding.default),
                AF.request(
                    "\(httpbin)/post", method: .post, parameters: Settings(),
                    encoder: PropertyListParameterEncoder.xml),
            ]
            for request in requests {
                let echo = try await request.serializingDecodable(Echo.self).value
                #expect(echo.headers["Content-Type"] == "application/x-plist")
                let sent = try PropertyListDecoder().decode(
                    Settings.self, from: Data(#require(echo.data).utf8))
                #expect(sent == Settings())
            }
        }
    }

    /// `responsePropertyList` is `responseDecodable` with a decoder of property lists.
    @Test func aResponseIsAPropertyList() async throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        let list = try encoder.encode(Settings())
        try await HTTPBin.serve { httpbin in
            let body = String(decoding: list, as: UTF8.self)
            httpbin.answer(
                "/settings", with: "HTTP/1.1 200 OK\r\nContent-Length: \(list.count)\r\n\r\n\(body)")
            let response: AFDataResponse<Settings> = await handed { hand in
                AF.request("\(httpbin)/settings")
                    .responseDecodable(of: Settings.self, decoder: PropertyListDecoder()) { hand($0) }
            }
            #expect(response.value == Settings())
        }
    }
}
