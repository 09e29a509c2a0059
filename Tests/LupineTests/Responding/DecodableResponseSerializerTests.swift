// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The decoding of content, and the value for empty content.
@Suite struct DecodableResponseSerializerTests {
    struct Person: Codable, Equatable, Sendable { var name: String }

    /// A type of the program with an empty value.
    struct Inbox: Codable, Equatable, Sendable, EmptyResponse {
        var count: Int
        static func emptyValue() -> Inbox { Inbox(count: 0) }
    }

    @Test("[V-3.5] missing content becomes the type's empty value, and fails for a type without one")
    func emptyValues() throws {
        let response = try ResponseMaterial.response(204)
        let spy = SpyDecoder()
        let empty = DecodableResponseSerializer<Empty>(decoder: spy)
        #expect(try empty.serialize(request: nil, response: response, data: nil, error: nil) == Empty.value)
        let inbox = DecodableResponseSerializer<Inbox>(decoder: spy)
        #expect(try inbox.serialize(request: nil, response: response, data: Data(), error: nil).count == 0)
        let number = DecodableResponseSerializer<Int>(decoder: spy)
        let failure = thrown {
            _ = try number.serialize(request: nil, response: response, data: nil, error: nil)
        }
        guard case .invalidEmptyResponse(let type)? = failure?.serializationReason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(type == "Int")
        #expect(spy.inputs.isEmpty, "nothing was decoded")
        let refused = thrown {
            let response = try ResponseMaterial.response(200)
            _ = try empty.serialize(request: nil, response: response, data: nil, error: nil)
        }
        guard case .inputDataNilOrZeroLength? = refused?.serializationReason else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }

    @Test("[V-3.5] all values of Empty are equal, and it is decoded from anything")
    func empty() throws {
        #expect(Empty.emptyValue() == Empty.value)
        #expect(Set([Empty.value, Empty.emptyValue()]).count == 1)
        #expect(try JSONDecoder().decode(Empty.self, from: Data("{\"a\":1}".utf8)) == Empty.value)
        #expect(try JSONEncoder().encode(Empty.value) == Data("{}".utf8))
    }

    @Test("[V-3.3] content is decoded once, unchanged")
    func decoding() throws {
        let spy = SpyDecoder()
        let content = Data("{\"name\":\"Ann\"}".utf8)
        let serializer = DecodableResponseSerializer<Person>(decoder: spy)
        let person = try serializer.serialize(request: nil, response: nil, data: content, error: nil)
        #expect(person == Person(name: "Ann"))
        #expect(spy.inputs == [content])
    }

    @Test("[V-3.3] the failure contains the decoder's error")
    func failure() throws {
        let serializer = DecodableResponseSerializer<Person>(decoder: SpyDecoder(.second))
        let failure = thrown {
            _ = try serializer.serialize(request: nil, response: nil, data: Data("x".utf8), error: nil)
        }
        guard case .decodingFailed(let error)? = failure?.serializationReason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error as? ResponseTestError == .second)
    }

    @Test("[V-3.3] a property list is decoded by its decoder, in both formats")
    func propertyList() throws {
        let serializer = DecodableResponseSerializer<Person>(decoder: PropertyListDecoder())
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            let content = try encoder.encode(Person(name: "Bo"))
            let person = try serializer.serialize(request: nil, response: nil, data: content, error: nil)
            #expect(person == Person(name: "Bo"))
        }
    }

    @Test("[V-12.5] a stream's chunk is preprocessed, then decoded; only the decoder's error is wrapped")
    func pieces() throws {
        let serializer = DecodableStreamSerializer<Int>(dataPreprocessor: .googleXSSI)
        #expect(try serializer.serialize(Data(")]}',\n7".utf8)) == 7)
        let failing = DecodableStreamSerializer<Int>(dataPreprocessor: SpyPreprocessor(.failure(.first)))
        #expect(throws: ResponseTestError.first) { try failing.serialize(Data("7".utf8)) }
        let undecodable = thrown { _ = try serializer.serialize(Data("x".utf8)) }
        guard case .decodingFailed? = undecodable?.serializationReason else {
            Issue.record("\(String(describing: undecodable))")
            return
        }
    }
}
