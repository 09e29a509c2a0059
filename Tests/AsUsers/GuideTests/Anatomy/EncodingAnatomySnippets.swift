// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Headers, encodings and responses, as the walk through Alamofire's sources presents them.
@Suite struct EncodingAnatomySnippets {
    @Test func headersAreLiterals() {
        let headers: HTTPHeaders = [
            .authorization(username: "Username", password: "Password"),
            .accept("application/json"),
        ]
        let dictionary: HTTPHeaders = [
            "Authorization": "Basic VXNlcm5hbWU6UGFzc3dvcmQ=", "Accept": "application/json",
        ]
        #expect(headers == dictionary)
        #expect(headers["accept"] == "application/json")
    }

    @Test func headersHaveDefaults() {
        var expected: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
        // The locale of the tests may not name a language.
        if HTTPHeader.defaultAcceptLanguage.value.isEmpty { expected.remove(name: "Accept-Language") }
        #expect(HTTPHeaders.default == expected)
        #expect(URLSessionConfiguration.af.default.headers.dictionary == expected.dictionary)
    }

    @Test func threeTypesHaveHeaders() throws {
        let headers: HTTPHeaders = ["X-A": "b"]
        let url = try #require(URL(string: "http://localhost"))
        var urlRequest = URLRequest(url: url)
        urlRequest.headers = headers
        #expect(urlRequest.allHTTPHeaderFields == ["X-A": "b"])
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["X-A": "b"]))
        #expect(response.headers["x-a"] == "b")
        let configuration = URLSessionConfiguration.default
        configuration.headers = headers
        #expect(configuration.httpAdditionalHeaders as? [String: String] == ["X-A": "b"])
    }

    @Test func anEncodingIsAFunction() async throws {
        struct XMLEncoding: ParameterEncoding {
            func encode(_ urlRequest: URLRequestConvertible, with parameters: Parameters?) throws
                -> URLRequest
            {
                var urlRequest = try urlRequest.asURLRequest()
                urlRequest.headers.update(.contentType("application/xml"))
                let elements = (parameters ?? [:]).map { "<\($0.key)>\($0.value)</\($0.key)>" }
                urlRequest.httpBody = Data(elements.joined().utf8)
                return urlRequest
            }
        }
        try await HTTPBin.serve { httpbin in
            let parameters: Parameters = ["foo": "bar"]
            let echo = try await AF.request(
                "\(httpbin)/post", method: .post, parameters: parameters, encoding: XMLEncoding()
            ).serializingDecodable(Echo.self).value
            #expect(echo.data == "<foo>bar</foo>")
        }
    }

    @Test func urlEncodingHasOptions() throws {
        let post = try URLRequest(url: "http://localhost", method: .post)
        let parameters: Parameters = ["foo": ["a", "b"], "on": true, "sub": ["key": 1]]
        let body = try URLEncoding.default.encode(post, with: parameters).httpBody
        #expect(
            body.map { String(decoding: $0, as: UTF8.self) }
                == "foo%5B%5D=a&foo%5B%5D=b&on=1&sub%5Bkey%5D=1")
        let query = try URLEncoding.queryString.encode(post, with: ["foo": "bar"])
        #expect(query.url?.query == "foo=bar")
        #expect(query.httpBody == nil)
        #expect(try URLEncoding.httpBody.encode(post, with: ["foo": "bar"]).url?.query == nil)
        let encoding = URLEncoding(
            destination: .queryString, arrayEncoding: .noBrackets, boolEncoding: .literal)
        let encoded = try encoding.encode(post, with: ["foo": ["a", "b"], "on": false])
        #expect(encoded.url?.query == "foo=a&foo=b&on=false")
        #expect(encoding.queryComponents(fromKey: "on", value: true).map(\.1) == ["true"])
        #expect(encoding.escape(":#[]@!$&'()*+,;=") == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D")
        switch (encoding.destination, encoding.arrayEncoding, encoding.boolEncoding) {
        case (.queryString, .noBrackets, .literal): break
        default: Issue.record("the options are what was given")
        }
    }

    @Test func jsonEncodingHasOptions() throws {
        let post = try URLRequest(url: "http://localhost", method: .post)
        let plain = try JSONEncoding.default.encode(post, with: ["foo": 1])
        #expect(plain.httpBody == Data(#"{"foo":1}"#.utf8))
        #expect(plain.headers["Content-Type"] == "application/json")
        let pretty = try JSONEncoding.prettyPrinted.encode(post, with: ["foo": 1])
        #expect(pretty.httpBody.map { String(decoding: $0, as: UTF8.self) }?.contains("\n") == true)
        #expect(JSONEncoding(options: .sortedKeys).options == .sortedKeys)
        let array = try JSONEncoding.default.encode(post, withJSONObject: [1, 2])
        #expect(array.httpBody == Data("[1,2]".utf8))
    }

    @Test func anEncoderIsAFunction() async throws {
        struct Reversed: ParameterEncoder {
            func encode<Parameters: Encodable>(_ parameters: Parameters?, into request: URLRequest) throws
                -> URLRequest
            {
                var request = request
                request.headers.update(.contentType("text/plain"))
                request.httpBody = try Data(JSONEncoder().encode(parameters).reversed())
                return request
            }
        }
        try await HTTPBin.serve { httpbin in
            let echo = try await AF.request(
                "\(httpbin)/post", method: .post, parameters: ["foo": "bar"], encoder: Reversed()
            ).serializingDecodable(Echo.self).value
            #expect(echo.data == #"}"rab":"oof"{"#)
        }
    }

    @Test func aJSONEncoderThatFailsSaysSo() throws {
        struct Failing: Encodable {
            struct Reason: Error {}
            func encode(to encoder: any Encoder) throws { throw Reason() }
        }
        let request = try URLRequest(
            url: "http://localhost", method: .post, headers: [.contentType("text/json")])
        let kept = try JSONParameterEncoder.default.encode(["a": 1], into: request)
        #expect(kept.headers["Content-Type"] == "text/json")
        let nothing: [String: Int]? = nil
        #expect(try JSONParameterEncoder.default.encode(nothing, into: request) == request)
        let error = #expect(throws: AFError.self) {
            try JSONParameterEncoder.default.encode(Failing(), into: request)
        }
        guard case .parameterEncodingFailed(.jsonEncodingFailed(let reason))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason is Failing.Reason)
    }

    @Test func aFormHasThreeDestinations() throws {
        let destinations: [(URLEncodedFormParameterEncoder.Destination, HTTPMethod, Bool)] = [
            (.methodDependent, .get, true), (.methodDependent, .head, true),
            (.methodDependent, .delete, true), (.methodDependent, .post, false),
            (.queryString, .post, true), (.httpBody, .get, false),
        ]
        for (destination, method, isInQuery) in destinations {
            let encoder = URLEncodedFormParameterEncoder(destination: destination)
            let request = try encoder.encode(
                ["a": 1], into: URLRequest(url: "http://localhost?b=2", method: method))
            #expect(request.url?.query == (isInQuery ? "b=2&a=1" : "b=2"))
            #expect(request.httpBody == (isInQuery ? nil : Data("a=1".utf8)))
        }
    }

    @Test func aFormNeedsAURLAndAMethod() throws {
        var request = try URLRequest(url: "http://localhost", method: .get)
        request.url = nil
        let error = #expect(throws: AFError.self) {
            try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: request)
        }
        guard case .parameterEncoderFailed(.missingRequiredComponent(.url))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func notificationsTellOfARequest() async throws {
        try await HTTPBin.serve { httpbin in
            let request = AF.request("\(httpbin)/get")
            let (notes, note) = AsyncStream.makeStream(of: Request?.self)
            let names = [Request.didResumeNotification, Request.didFinishNotification]
            let observers = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                    notification in
                    guard notification.request == request else { return }
                    note.yield(notification.request)
                    if notification.name == Request.didFinishNotification { note.finish() }
                }
            }
            _ = await request.serializingData().response
            var count = 0
            for await told in notes {
                count += 1
                #expect(told === request)
            }
            #expect(count == 2)
            for observer in observers { NotificationCenter.default.removeObserver(observer) }
            #expect(
                Request.didResumeNotification.rawValue == "org.alamofire.notification.name.request.didResume")
        }
    }

    @Test func notificationsAreAMonitor() {
        let monitor: EventMonitor = AlamofireNotifications()
        monitor.requestDidSuspend(AF.request("http://localhost"))
    }

    @Test func monitorsAreComposed() {
        let monitor: EventMonitor = AF.eventMonitor
        #expect(monitor is CompositeEventMonitor)
    }

    @Test func aResultCanBeAnAFResult() {
        let result: AFResult<Int> = .failure(.explicitlyCancelled)
        let same: Result<Int, AFError> = result
        #expect(throws: AFError.self) { try same.get() }
    }

    @Test func aResponseIsMadeOfSixParts() {
        let response = DataResponse<Int, AFError>(
            request: nil,
            response: nil,
            data: Data([1]),
            metrics: nil,
            serializationDuration: 0.5,
            result: .success(1))
        #expect(response.request == nil && response.response == nil && response.metrics == nil)
        #expect(response.data == Data([1]))
        #expect(response.serializationDuration == 0.5)
        #expect(response.value == 1)
        #expect(response.error == nil)
    }

    @Test func aSerializerForEachKindOfRequest() throws {
        struct Count: DataResponseSerializerProtocol, DownloadResponseSerializerProtocol {
            func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?)
                throws -> Int
            {
                data?.count ?? 0
            }

            func serializeDownload(
                request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: Error?
            ) throws -> Int {
                fileURL?.path.count ?? 0
            }
        }
        let count = Count()
        #expect(try count.serialize(request: nil, response: nil, data: Data([1, 2]), error: nil) == 2)
        #expect(
            try count.serializeDownload(
                request: nil, response: nil, fileURL: URL(filePath: "/a"), error: nil) == 2)
    }
}
