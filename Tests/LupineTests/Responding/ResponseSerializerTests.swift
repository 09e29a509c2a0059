// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The default implementations of a serializer, and the use of a response serializer for downloads.
@Suite struct ResponseSerializerTests {
    /// A serializer that implements only the required method.
    struct Minimal: ResponseSerializer {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Int {
            if let error { throw error }
            if data == Data("bad".utf8) { throw ResponseTestError.second }
            return data?.count ?? -1
        }
    }

    @Test("[V-1.1] a serializer needs only its `serialize` method")
    func defaults() throws {
        let serializer = Minimal()
        #expect(serializer.dataPreprocessor is PassthroughPreprocessor)
        #expect(serializer.emptyRequestMethods == [.head])
        #expect(serializer.emptyResponseCodes == [204, 205])
        #expect(Minimal.defaultEmptyRequestMethods == [.head])
        #expect(Minimal.defaultEmptyResponseCodes == [204, 205])
        #expect(Minimal.defaultDataPreprocessor is PassthroughPreprocessor)
        #expect(serializer.requestAllowsEmptyResponseData(nil) == nil)
        #expect(serializer.responseAllowsEmptyResponseData(nil) == nil)
        #expect(serializer.requestAllowsEmptyResponseData(try ResponseMaterial.request(.get)) == false)
        #expect(serializer.requestAllowsEmptyResponseData(try ResponseMaterial.request(.head)) == true)
        #expect(serializer.responseAllowsEmptyResponseData(try ResponseMaterial.response(204)) == true)
        #expect(serializer.responseAllowsEmptyResponseData(try ResponseMaterial.response(201)) == false)
        try ResponseMaterial.withFile(Data("four".utf8)) { file in
            let count = try serializer.serializeDownload(
                request: nil, response: nil, fileURL: file, error: nil)
            #expect(count == 4)
        }
    }

    @Test(
        "[V-1.2] a download's serializer throws the error, reports an unreadable file, or serializes"
    )
    func download() throws {
        let serializer = Minimal()
        try ResponseMaterial.withFile(Data("good".utf8)) { file in
            #expect(throws: ResponseTestError.first) {
                try serializer.serializeDownload(
                    request: nil, response: nil, fileURL: file, error: ResponseTestError.first)
            }
            let count = try serializer.serializeDownload(
                request: nil, response: nil, fileURL: file, error: nil)
            #expect(count == 4)
        }
        let missing = thrown {
            _ = try serializer.serializeDownload(request: nil, response: nil, fileURL: nil, error: nil)
        }
        guard case .inputFileNil? = missing?.serializationReason else {
            Issue.record("\(String(describing: missing))")
            return
        }
        try ResponseMaterial.withFile(Data("bad".utf8)) { file in
            #expect(throws: ResponseTestError.second, "unchanged") {
                try serializer.serializeDownload(request: nil, response: nil, fileURL: file, error: nil)
            }
        }
    }

    @Test("[V-1.3, V-12.3] no file, a missing file and an empty file are distinguished")
    func files() throws {
        let serializer = DataResponseSerializer()
        for status in [200, 204] {
            let response = try ResponseMaterial.response(status)
            let none = thrown {
                _ = try serializer.serializeDownload(
                    request: nil, response: response, fileURL: nil, error: nil)
            }
            guard case .inputFileNil? = none?.serializationReason else {
                Issue.record("\(String(describing: none))")
                return
            }
            try ResponseMaterial.withFile(nil) { file in
                let missing = thrown {
                    _ = try serializer.serializeDownload(
                        request: nil, response: response, fileURL: file, error: nil)
                }
                guard case .inputFileReadFailed(let place)? = missing?.serializationReason else {
                    Issue.record("\(String(describing: missing))")
                    return
                }
                #expect(place == file)
            }
        }
        try ResponseMaterial.withFile(Data()) { file in
            let empty = try serializer.serializeDownload(
                request: nil, response: try ResponseMaterial.response(204), fileURL: file, error: nil)
            #expect(empty == Data())
            let refused = thrown {
                _ = try serializer.serializeDownload(
                    request: nil, response: try ResponseMaterial.response(200), fileURL: file, error: nil)
            }
            guard case .inputDataNilOrZeroLength? = refused?.serializationReason else {
                Issue.record("\(String(describing: refused))")
                return
            }
        }
    }

    @Test("[V-12.3] the URL of a file is returned without access to the disk")
    func url() throws {
        let serializer: any DownloadResponseSerializerProtocol<URL> = .url
        let place = try #require(URL(string: "file:///nowhere/at/all"))
        #expect(
            try serializer.serializeDownload(request: nil, response: nil, fileURL: place, error: nil) == place
        )
        #expect(throws: ResponseTestError.first) {
            try serializer.serializeDownload(
                request: nil, response: nil, fileURL: place, error: ResponseTestError.first)
        }
        let none = thrown {
            _ = try serializer.serializeDownload(
                request: nil, response: try ResponseMaterial.response(204), fileURL: nil, error: nil)
        }
        guard case .inputFileNil? = none?.serializationReason else {
            Issue.record("\(String(describing: none))")
            return
        }
    }

    @Test("[V-12.12] the static members work for generic and for existential parameters")
    func shorthands() throws {
        func generic<Serializer: ResponseSerializer>(_ serializer: Serializer) -> Serializer { serializer }
        #expect(generic(.data).emptyResponseCodes == [204, 205])
        #expect(generic(.data(emptyResponseCodes: [200])).emptyResponseCodes == [200])
        #expect(generic(.string).encoding == nil)
        #expect(generic(.string(encoding: .utf16)).encoding == .utf16)
        #expect(generic(.decodable(of: Int.self)).decoder is JSONDecoder)
        #expect(
            generic(.decodable(of: Int.self, decoder: PropertyListDecoder())).decoder is PropertyListDecoder)
        let existential: any ResponseSerializer<Data> = .data
        #expect(existential is DataResponseSerializer)
        let preprocessors: [any DataPreprocessor] = [.passthrough, .googleXSSI]
        #expect(preprocessors.count == 2)
        func stream<Serializer: DataStreamSerializer>(_ serializer: Serializer) -> Serializer { serializer }
        #expect(try stream(.passthrough).serialize(Data([0xFF])) == Data([0xFF]))
        #expect(try stream(.string).serialize(Data("é".utf8)) == "é")
        #expect(try stream(.decodable(of: Int.self)).serialize(Data("4".utf8)) == 4)
        #expect(try stream(.ndjson(of: Int.self)).serialize(Data("4".utf8)) == 4)
        #expect(try stream(.serverSentEvents).serialize(Data("data: x\n\n".utf8)).data == "x")
    }
}
