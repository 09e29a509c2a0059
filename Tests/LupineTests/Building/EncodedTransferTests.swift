// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// Encoded requests as an origin receives them.
@Suite struct EncodedTransferTests {
    /// The origin's JSON description of the request that it received.
    private struct Echo: Decodable, Sendable {
        let args: [String: String]
        let headers: [String: String]
        var form: [String: String]?
        var files: [String: String]?
        var data: String?

        func header(_ name: String) -> String? {
            headers.first { $0.key.lowercased() == name.lowercased() }?.value
        }
    }

    private func echo(_ request: DataRequest) async throws -> Echo {
        try await request.serializingDecodable(Echo.self).value
    }

    @Test("parameters of every encoding reach the server", arguments: TestedHTTP.allCases)
    func parameters(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            let session = stage.session
            let query = try await echo(session.request(stage.url("/get"), parameters: ["a b": "ü&="]))
            #expect(query.args == ["a b": "ü&="])
            let form = try await echo(
                session.request(
                    stage.url("/post"), method: .post, parameters: ["n": [1.5]], encoding: URLEncoding.default
                ))
            #expect(form.form == ["n[]": "1.5"])
            let encoded = try await echo(
                session.request(
                    stage.url("/post"), method: .post, parameters: ["k": "ü +&="], encoder: .urlEncodedForm))
            #expect(encoded.form == ["k": "ü +&="])
            let json = try await echo(
                session.request(stage.url("/post"), method: .post, parameters: ["k": "v"], encoder: .json))
            #expect(json.data == #"{"k":"v"}"# && json.header("Content-Type") == "application/json")
        }
    }

    @Test(
        "[E-9.7] a body with an existing Content-Encoding fails the adaptation",
        arguments: TestedHTTP.allCases)
    func duplicateHeader(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            let answer = await stage.session.request(
                stage.url("/post"), method: .post, parameters: ["k": "v"], encoder: .json,
                headers: ["Content-Encoding": "br"], interceptor: .deflateCompressor
            ).serializingData().response
            guard case .requestAdaptationFailed(let cause) = answer.error else {
                Issue.record("\(String(describing: answer.error))")
                return
            }
            #expect(cause is DeflateRequestCompressor.DuplicateHeaderError)
            #expect(answer.error?.underlyingError is DeflateRequestCompressor.DuplicateHeaderError)
        }
    }

    @Test(
        "[E-9.8] the length is that of the compressed body", arguments: RequestCompressionTests.Kind.allCases,
        TestedHTTP.allCases)
    func contentLength(kind: RequestCompressionTests.Kind, over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            let text = String(repeating: "compress me ", count: 1000)
            let seen = try await echo(
                stage.session.request(
                    stage.url("/post"), method: .post, parameters: [text], encoder: .json,
                    interceptor: kind.compressor()))
            let prefix = "data:application/octet-stream;base64,"
            let data = try #require(seen.data)
            let body = try #require(Data(base64Encoded: String(data.dropFirst(prefix.count))))
            #expect(seen.header("Content-Encoding") == kind.rawValue)
            #expect(seen.header("Content-Length") == "\(body.count)" && body.count < 500)
            #expect(try kind.decoded(body) == JSONEncoder().encode([text]))
        }
    }

    @Test(
        "[E-10.10] parameters in the body of a GET are refused, even if they are empty",
        arguments: TestedHTTP.allCases)
    func bodyInGet(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            for (parameters, encoding) in [
                (["k": "v"], JSONEncoding.default), ([:], URLEncoding.httpBody),
            ] as [(Parameters, any ParameterEncoding)] {
                let answer = await stage.session.request(
                    stage.url("/get"), parameters: parameters, encoding: encoding
                ).serializingData().response
                guard case .urlRequestValidationFailed(reason: .bodyDataInGETRequest(let body)) = answer.error
                else {
                    Issue.record("\(String(describing: answer.error))")
                    continue
                }
                #expect(body.isEmpty == parameters.isEmpty)
            }
        }
    }

    @Test("[E-10.9] an updated header keeps its position and has the new spelling")
    func headerSpelling() {
        var headers: HTTPHeaders = ["b": "1", "a": "2"]
        headers.update(name: "B", value: "3")
        #expect(headers == ["B": "3", "a": "2"] && headers != ["a": "2", "B": "3"])
    }

    @Test("a multipart form reaches the server", arguments: TestedHTTP.allCases)
    func multipart(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            let folder = try FormFolder()
            let form = MultipartFormData()
            form.append(Data("1".utf8), withName: "one")
            form.append(try folder.file("ü.txt", "two".utf8), withName: "two")
            var request = try URLRequest(url: stage.url("/post"), method: .post)
            request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
            request.httpBody = try form.encode()
            let seen = try await echo(stage.session.request(request))
            #expect(seen.form == ["one": "1"] && seen.files == ["two": "two"])
        }
    }
}
