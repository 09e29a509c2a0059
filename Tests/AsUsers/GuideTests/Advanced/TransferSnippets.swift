// SPDX-License-Identifier: MIT

// The patterns are the guide's.
// swift-format-ignore-file: UseLetInEveryBoundCaseVariable

import Foundation
import Lupine
import Testing

/// Downloads and streams, as in the advanced guide.
@Suite struct TransferSnippets {
    struct DecodableType: Decodable, Sendable, Equatable { let id: Int }

    struct CustomSerializer: DataStreamSerializer {
        func serialize(_ data: Data) throws -> Int { data.count }
    }

    @Test func aCancelledDownloadGivesWhatItHas() async throws {
        try await HTTPBin.serve { httpbin in
            httpbin.origin.script("GET", "/held", ScriptedMeeting.plan("held", body: "never sent"))
            let download = AF.download("\(httpbin)/held").response { _ in }
            await httpbin.origin.gate("held asked").wait()
            let data: Data? = await handed { hand in
                download
                    .cancel { resumeData in
                        hand(resumeData)
                    }
            }
            // No data has arrived that could be resumed.
            #expect(data == nil)
            #expect(download.isCancelled)
        }
    }

    @Test func aDownloadsValidationHasItsFile() async throws {
        struct TooShort: Error {}
        let validation: DownloadRequest.Validation = {
            (_ request: URLRequest?, _ response: HTTPURLResponse, _ fileURL: URL?) in
            let count = fileURL.flatMap { try? Data(contentsOf: $0).count } ?? 0
            return count < 4 ? .failure(TooShort()) : .success(())
        }
        try await HTTPBin.serve { httpbin in
            let short = await AF.download("\(httpbin)/bytes/3").validate(validation).serializingData()
                .response
            #expect(short.error?.underlyingError is TooShort)
            let long = await AF.download("\(httpbin)/bytes/4").validate(validation).serializingData().response
            #expect(long.value?.count == 4)
            discard(short.fileURL)
            discard(long.fileURL)
        }
    }

    @Test func aDownloadsResponseHasEightParts() {
        let response = DownloadResponse<Int, AFError>(
            request: nil, response: nil, fileURL: URL(filePath: "/a"), resumeData: Data([1]), metrics: nil,
            serializationDuration: 0.5, result: .success(1))
        #expect(response.fileURL == URL(filePath: "/a"))
        #expect(response.resumeData == Data([1]))
        #expect(response.value == 1)
    }

    @Test func aStreamsValidationIsAClosure() async throws {
        struct Refused: Error {}
        let validation: DataStreamRequest.Validation = {
            (_ request: URLRequest?, _ response: HTTPURLResponse) in
            response.statusCode == 200 ? .success(()) : .failure(Refused())
        }
        try await HTTPBin.serve { httpbin in
            for (path, isValid) in [("bytes/3", true), ("status/404", false)] {
                let error: AFError? = await handed { hand in
                    AF.streamRequest("\(httpbin)/\(path)").validate(validation).responseStream { stream in
                        if case let .complete(completion) = stream.event { hand(completion.error) }
                    }
                }
                #expect(error?.underlyingError is Refused == !isValid)
            }
        }
    }

    @Test func aStreamsValidationTrails() async throws {
        struct Refused: Error {}
        try await HTTPBin.serve { httpbin in
            let error: AFError? = await handed { hand in
                AF.streamRequest("\(httpbin)/get")
                    .validate { request, response in
                        request?.method == .get && response.statusCode == 200
                            ? .failure(Refused()) : .success(())
                    }
                    .responseStream { stream in
                        if case let .complete(completion) = stream.event { hand(completion.error) }
                    }
            }
            #expect(error?.underlyingError is Refused)
        }
    }

    @Test func aStreamSerializerHasOneFunction() throws {
        let serializer = CustomSerializer()
        #expect(try serializer.serialize(Data([1, 2])) == 2)
    }

    @Test func aStreamTakesASerializer() async throws {
        try await HTTPBin.serve { httpbin in
            let (counts, count) = AsyncStream.makeStream(of: Int.self)
            AF.streamRequest("\(httpbin)/bytes/1000").responseStream(using: CustomSerializer()) { stream in
                // Process stream.
                switch stream.event {
                case let .stream(result): count.yield(try result.get())
                case .complete: count.finish()
                }
            }
            var sum = 0
            for await next in counts { sum += next }
            #expect(sum == 1_000)
        }
    }

    /// The guide's `responseDecodable` is called `responseStreamDecodable`.
    @Test func aStreamIsDecoded() async throws {
        try await HTTPBin.serve { httpbin in
            let value: DecodableType = await handed { hand in
                AF.streamRequest("\(httpbin)/stream/1").responseStreamDecodable(of: DecodableType.self) {
                    stream in
                    // Process stream.
                    if case let .stream(.success(value)) = stream.event { hand(value) }
                }
            }
            #expect(value == DecodableType(id: 0))
        }
    }

    @Test func aStreamIsDecodedByASerializer() async throws {
        try await HTTPBin.serve { httpbin in
            let value: DecodableType = await handed { hand in
                AF.streamRequest("\(httpbin)/stream/1").responseStream(
                    using: DecodableStreamSerializer<DecodableType>(decoder: JSONDecoder())
                ) { stream in
                    // Process stream.
                    if case let .stream(.success(value)) = stream.event { hand(value) }
                }
            }
            #expect(value == DecodableType(id: 0))
        }
    }
}
