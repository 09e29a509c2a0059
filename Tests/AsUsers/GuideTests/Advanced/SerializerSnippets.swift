// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import Testing

/// Handlers with a queue, transformed responses, and custom serializers.
@Suite struct SerializerSnippets {
    struct Property: Equatable, Sendable {
        struct Missing: Error {}
        let text: String

        func validated() throws -> Property {
            guard text.contains("/get") else { throw Missing() }
            return self
        }
    }

    struct SomeType: Decodable, Sendable {
        let url: String

        var someProperty: Property { Property(text: url) }
    }

    struct CommaDelimitedSerializer: ResponseSerializer {
        func serialize(
            request: URLRequest?,
            response: HTTPURLResponse?,
            data: Data?,
            error: Error?
        ) throws -> [String] {
            // Call the existing StringResponseSerializer to get many behaviors automatically.
            let string = try StringResponseSerializer().serialize(
                request: request,
                response: response,
                data: data,
                error: error
            )

            return Array(string.split(separator: ",").map(String.init))
        }
    }

    /// Implements everything that the guide's protocol requires, without the library's defaults.
    struct CompleteSerializer: ResponseSerializer {
        typealias SerializedObject = Int

        struct UpperCase: DataPreprocessor {
            func preprocess(_ data: Data) throws -> Data {
                Data(String(decoding: data, as: UTF8.self).uppercased().utf8)
            }
        }

        var dataPreprocessor: DataPreprocessor { UpperCase() }
        var emptyRequestMethods: Set<HTTPMethod> { [.head] }
        var emptyResponseCodes: Set<Int> { [204] }

        func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws
            -> Int
        {
            if let error { throw error }
            let data = try dataPreprocessor.preprocess(data ?? Data())
            return data.filter { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }.count
        }

        func serializeDownload(
            request: URLRequest?,
            response: HTTPURLResponse?,
            fileURL: URL?,
            error: Error?
        ) throws -> Int {
            try serialize(
                request: request, response: response, data: fileURL.map { try Data(contentsOf: $0) },
                error: error)
        }
    }

    private static let commas = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na,b,c"

    @Test func aHandlerRunsOnItsQueue() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Data?> = await handed { hand in
                let queue = DispatchQueue(label: "org.example.handlers")
                let completionHandler: @Sendable (AFDataResponse<Data?>) -> Void = { response in
                    dispatchPrecondition(condition: .onQueue(queue))
                    hand(response)
                }
                AF.request("\(httpbin)/get").response(queue: queue, completionHandler: completionHandler)
            }
            #expect(response.error == nil)
        }
    }

    @Test func aSerializerHasFiveParts() async throws {
        try await HTTPBin.serve { httpbin in
            httpbin.answer("/commas", with: Self.commas)
            let response = await AF.request("\(httpbin)/commas")
                .serializingResponse(using: CompleteSerializer()).response
            #expect(response.value == 3)
            let serializer = CompleteSerializer()
            #expect(serializer.emptyRequestMethods == [.head])
            #expect(serializer.emptyResponseCodes == [204])
        }
    }

    @Test func aHandlerTakesASerializer() async throws {
        try await HTTPBin.serve { httpbin in
            httpbin.answer("/commas", with: Self.commas)
            let response: AFDataResponse<Int> = await handed { hand in
                let queue = DispatchQueue(label: "org.example.handlers")
                AF.request("\(httpbin)/commas").response(
                    queue: queue,
                    responseSerializer: CompleteSerializer(),
                    completionHandler: { response in
                        dispatchPrecondition(condition: .onQueue(queue))
                        hand(response)
                    })
            }
            #expect(response.value == 3)
        }
    }

    @Test func aResponseIsMapped() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Property> = await handed { hand in
                AF.request("\(httpbin)/get").responseDecodable(of: SomeType.self) { response in
                    let propertyResponse = response.map { $0.someProperty }

                    debugPrint(propertyResponse)
                    hand(propertyResponse)
                }
            }
            #expect(response.value == Property(text: "\(httpbin)/get"))
            // The other properties of the response are kept.
            #expect(response.response?.statusCode == 200)
            #expect(response.metrics != nil)
        }
    }

    @Test func aMapCanThrow() async throws {
        try await HTTPBin.serve { httpbin in
            for (path, isValid) in [("get", true), ("anything", false)] {
                let response: DataResponse<Property, Error> = await handed { hand in
                    AF.request("\(httpbin)/\(path)").responseDecodable(of: SomeType.self) { response in
                        let propertyResponse = response.tryMap { try $0.someProperty.validated() }

                        debugPrint(propertyResponse)
                        hand(propertyResponse)
                    }
                }
                #expect(response.result.isValid == isValid)
                #expect(response.error is Property.Missing == !isValid)
            }
        }
    }

    @Test func aSerializerStandsOnAnother() async throws {
        try await HTTPBin.serve { httpbin in
            httpbin.answer("/commas", with: Self.commas)
            httpbin.answer("/nothing", with: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let response: AFDataResponse<[String]> = await handed { hand in
                AF.request("\(httpbin)/commas").response(responseSerializer: CommaDelimitedSerializer()) {
                    hand($0)
                }
            }
            #expect(response.value == ["a", "b", "c"])
            let empty = await AF.request("\(httpbin)/nothing")
                .serializingResponse(using: CommaDelimitedSerializer()).response
            #expect(empty.error?.isResponseSerializationError == true)
        }
    }
}
