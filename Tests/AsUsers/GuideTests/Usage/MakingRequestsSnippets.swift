// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

extension HTTPMethod {
    static let custom = HTTPMethod(rawValue: "CUSTOM")
}

/// Requests, methods, and request modifiers.
@Suite struct MakingRequestsSnippets {
    @Test func aTextIsEnough() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Data?> = await handed { hand in
                AF.request("\(httpbin)/get").response { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            #expect(response.response?.statusCode == 200)
            let echo = try JSONDecoder().decode(Echo.self, from: #require(try response.result.get()))
            #expect(echo.url == "\(httpbin)/get")
        }
    }

    /// The first of the two functions, with every parameter that the guide shows.
    @Test func everyPartOfARequestHasAParameter() async throws {
        let request:
            (
                URLConvertible, HTTPMethod, [String: String]?, ParameterEncoder, HTTPHeaders?,
                RequestInterceptor?
            ) -> DataRequest = { convertible, method, parameters, encoder, headers, interceptor in
                AF.request(
                    convertible, method: method, parameters: parameters, encoder: encoder, headers: headers,
                    interceptor: interceptor)
            }
        let adapter = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            urlRequest.headers.add(name: "X-Adapted", value: "yes")
            completion(.success(urlRequest))
        }
        try await HTTPBin.serve { httpbin in
            let echo = try await request(
                "\(httpbin)/anything", .put, ["foo": "bar"], JSONParameterEncoder.default,
                ["X-Given": "too"], adapter
            ).serializingDecodable(Echo.self).value
            #expect(echo.method == "PUT")
            #expect(echo.data == #"{"foo":"bar"}"#)
            #expect(echo.headers["X-Given"] == "too")
            #expect(echo.headers["X-Adapted"] == "yes")
        }
    }

    @Test func aRequestCanBeMadeElsewhere() async throws {
        let request: (URLRequestConvertible, RequestInterceptor?) -> DataRequest = {
            urlRequest, interceptor in
            AF.request(urlRequest, interceptor: interceptor)
        }
        try await HTTPBin.serve { httpbin in
            let urlRequest = try URLRequest(url: "\(httpbin)/delete", method: .delete)
            let echo = try await request(urlRequest, nil).serializingDecodable(Echo.self).value
            #expect(echo.url == "\(httpbin)/delete")
        }
    }

    @Test func methodsAreTheirNames() {
        let names: [HTTPMethod: String] = [
            .connect: "CONNECT", .delete: "DELETE", .get: "GET", .head: "HEAD", .options: "OPTIONS",
            .patch: "PATCH", .post: "POST", .put: "PUT", .trace: "TRACE",
        ]
        #expect(names.count == 9)
        for (method, name) in names {
            #expect(method.rawValue == name)
            #expect(method == HTTPMethod(rawValue: name))
        }
    }

    @Test func aMethodIsAParameter() async throws {
        try await HTTPBin.serve { httpbin in
            let requests = [
                AF.request("\(httpbin)/get"),
                AF.request("\(httpbin)/post", method: .post),
                AF.request("\(httpbin)/put", method: .put),
                AF.request("\(httpbin)/delete", method: .delete),
            ]
            var statuses: [Int?] = []
            for request in requests {
                statuses.append(await request.serializingData().response.response?.statusCode)
            }
            #expect(statuses == [200, 200, 200, 200])
            #expect(requests.map { $0.request?.method } == [.get, .post, .put, .delete])
        }
    }

    /// The guide's extension is part of the library.
    @Test func aURLRequestHasAMethod() throws {
        let url = try #require(URL(string: "http://localhost"))
        var urlRequest = URLRequest(url: url)
        #expect(urlRequest.method == .get)
        urlRequest.method = .patch
        #expect(urlRequest.httpMethod == "PATCH")
        urlRequest.httpMethod = "PUT"
        #expect(urlRequest.method == .put)
    }

    @Test func aMethodCanBeAdded() async throws {
        try await HTTPBin.serve { httpbin in
            let echo = try await AF.request("\(httpbin)/anything", method: .custom)
                .serializingDecodable(Echo.self).value
            #expect(echo.method == "CUSTOM")
        }
    }

    @Test func aModifierChangesTheRequest() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Data?> = await handed { hand in
                AF.request("\(httpbin)/get", requestModifier: { $0.timeoutInterval = 5 }).response {
                    response in
                    hand(response)
                }
            }
            #expect(response.request?.timeoutInterval == 5)
            #expect(response.error == nil)
        }
    }

    @Test func aModifierCanTrail() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Data?> = await handed { hand in
                AF.request("\(httpbin)/get") { urlRequest in
                    urlRequest.timeoutInterval = 5
                    urlRequest.allowsConstrainedNetworkAccess = false
                }
                .response { response in
                    hand(response)
                }
            }
            #expect(response.request?.timeoutInterval == 5)
            #expect(response.request?.allowsConstrainedNetworkAccess == false)
            #expect(response.error == nil)
        }
    }
}
