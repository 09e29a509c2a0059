// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The rules that the four content serializers have in common, each for all of them.
@Suite struct ContentSerializerTests {
    /// A serializer whose value is returned as a description, so that one table covers all.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let empty: String
        /// Serializes with the default codes and methods of responses that may be empty.
        let serialize: @Sendable (any DataPreprocessor, Arguments) throws -> String
        /// The result for empty content after the preprocessor; nil if it fails.
        let nothing: String?
    }

    struct Arguments: Sendable {
        var request: URLRequest?
        var response: HTTPURLResponse?
        var data: Data?
        var error: (any Error)?
    }

    static func kind<Serializer: ResponseSerializer>(
        _ name: String, empty: String, nothing: String?,
        _ make: @escaping @Sendable (any DataPreprocessor) -> Serializer
    ) -> Kind {
        Kind(
            testDescription: name, empty: empty,
            serialize: { preprocessor, arguments in
                let value = try make(preprocessor).serialize(
                    request: arguments.request, response: arguments.response, data: arguments.data,
                    error: arguments.error)
                return (value as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "\(value)"
            },
            nothing: nothing)
    }

    @available(*, deprecated)
    static func json() -> Kind {
        kind("JSON", empty: "<null>", nothing: nil) { JSONResponseSerializer(dataPreprocessor: $0) }
    }

    /// Calls the deprecated serializer without a warning.
    private protocol Deprecated { static func json() -> Kind }
    private enum Caller: Deprecated {
        @available(*, deprecated) static func json() -> Kind { ContentSerializerTests.json() }
    }
    private static func json(of caller: (some Deprecated).Type) -> Kind { caller.json() }

    static let kinds = [
        kind("data", empty: "", nothing: "") { DataResponseSerializer(dataPreprocessor: $0) },
        kind("string", empty: "", nothing: "") { StringResponseSerializer(dataPreprocessor: $0) },
        kind("decodable", empty: "Empty()", nothing: nil) {
            DecodableResponseSerializer<Empty>(dataPreprocessor: $0)
        },
        json(of: Caller.self),
    ]

    @Test("[V-3.1] the request's error is thrown unchanged, whatever the content", arguments: kinds)
    func error(_ kind: Kind) throws {
        let preprocessor = SpyPreprocessor()
        for data in [nil, Data(), Data("{}".utf8)] {
            let arguments = Arguments(
                response: try ResponseMaterial.response(204), data: data, error: ResponseTestError.first)
            #expect(throws: ResponseTestError.first) { try kind.serialize(preprocessor, arguments) }
        }
        #expect(preprocessor.inputs.isEmpty)
    }

    @Test(
        "[V-3.2, V-12.1] missing content is detected before the preprocessor, which is not called",
        arguments: kinds)
    func empty(_ kind: Kind) throws {
        let preprocessor = SpyPreprocessor(.failure(.first))
        for data in [nil, Data(), Data([1]).dropFirst()] {
            var arguments = Arguments(response: try ResponseMaterial.response(204), data: data)
            #expect(try kind.serialize(preprocessor, arguments) == kind.empty)
            arguments.response = try ResponseMaterial.response(200)
            let refused = thrown { _ = try kind.serialize(preprocessor, arguments) }
            guard case .inputDataNilOrZeroLength? = refused?.serializationReason else {
                Issue.record("\(String(describing: refused))")
                continue
            }
        }
        #expect(preprocessor.inputs.isEmpty)
    }

    @Test("[V-3.3] the preprocessor is called once, and its error is thrown", arguments: kinds)
    func preprocessor(_ kind: Kind) throws {
        let content = Data("{}".utf8)
        let replacing = SpyPreprocessor(.success(content))
        let value = try kind.serialize(replacing, Arguments(data: Data("anything".utf8)))
        #expect(replacing.inputs == [Data("anything".utf8)])
        #expect(try kind.serialize(SpyPreprocessor(), Arguments(data: content)) == value)
        let failing = SpyPreprocessor(.failure(.second))
        #expect(throws: ResponseTestError.second) { try kind.serialize(failing, Arguments(data: content)) }
        #expect(failing.inputs.count == 1)
    }

    @Test("[V-3.6] content that the preprocessor makes empty is converted like any other", arguments: kinds)
    func nothing(_ kind: Kind) throws {
        let emptying = SpyPreprocessor(.success(Data()))
        let arguments = Arguments(data: Data("x".utf8))
        guard let nothing = kind.nothing else {
            let failure = thrown { _ = try kind.serialize(emptying, arguments) }
            switch failure?.serializationReason {
            case .jsonSerializationFailed?, .decodingFailed?: break
            default: Issue.record("\(String(describing: failure))")
            }
            return
        }
        #expect(try kind.serialize(emptying, arguments) == nothing)
    }

    struct Emptiness: Sendable, CustomTestStringConvertible {
        let method: HTTPMethod?
        let status: Int?
        let mayBeEmpty: Bool
        var testDescription: String { "\(method?.rawValue ?? "no request") \(status ?? 0): \(mayBeEmpty)" }
    }

    @Test(
        "[V-3.7, V-12.2] the request's method or the response's status must allow an empty response",
        arguments: [
            Emptiness(method: .get, status: 200, mayBeEmpty: false),
            Emptiness(method: .get, status: 204, mayBeEmpty: true),
            Emptiness(method: .get, status: 205, mayBeEmpty: true),
            Emptiness(method: .head, status: 200, mayBeEmpty: true),
            Emptiness(method: .head, status: nil, mayBeEmpty: true),
            Emptiness(method: nil, status: 204, mayBeEmpty: true),
            Emptiness(method: nil, status: 200, mayBeEmpty: false),
            Emptiness(method: .get, status: nil, mayBeEmpty: false),
            Emptiness(method: nil, status: nil, mayBeEmpty: false),
        ])
    func truth(_ row: Emptiness) throws {
        let request = try row.method.map { try ResponseMaterial.request($0) }
        let response = try row.status.map { try ResponseMaterial.response($0) }
        let allowed = DataResponseSerializer().emptyResponseAllowed(forRequest: request, response: response)
        #expect(allowed == row.mayBeEmpty)
        for kind in Self.kinds {
            let arguments = Arguments(request: request, response: response)
            let failure = thrown { _ = try kind.serialize(.passthrough, arguments) }
            #expect((failure == nil) == row.mayBeEmpty, "\(kind.testDescription)")
        }
    }

    @Test(
        "[V-3.8] invalid JSON fails with Foundation's error", arguments: ["{", "nul", "{\"a\":}", "[1,"])
    func invalidJSON(text: String) throws {
        let failure = thrown {
            _ = try Self.json(of: Caller.self).serialize(.passthrough, Arguments(data: Data(text.utf8)))
        }
        guard case .jsonSerializationFailed(let error)? = failure?.serializationReason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect((error as? CocoaError)?.code == .propertyListReadCorrupt)
    }

    @Test("[V-3.3] JSON may be a fragment unless the options forbid it")
    func fragments() throws {
        let kind = Self.json(of: Caller.self)
        #expect(try kind.serialize(.passthrough, Arguments(data: Data("42".utf8))) == "42")
    }
}
