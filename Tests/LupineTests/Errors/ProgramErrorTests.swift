// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Wherever the program's code throws an error, the request fails with an `AFError` whose case names the step and whose
/// `underlyingError` is that error.
@Suite(.timeLimit(.minutes(10)))
struct ProgramErrorTests {
    final class OwnError: Error, Sendable {}
    static let own = OwnError()

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Makes a request fail, and returns the error that the program receives.
        let failure: @Sendable (PipelineStage) async throws -> AFError?
        /// Whether the error is the case of that step.
        let isOfStep: @Sendable (AFError) -> Bool
        var setUp: @Sendable () -> PipelineSetUp = { PipelineSetUp() }
    }

    // MARK: before the request is sent

    private struct Broken: URLConvertible, URLRequestConvertible, Encodable {
        func asURL() throws -> URL { throw own }
        func asURLRequest() throws -> URLRequest { throw own }
        func encode(to encoder: any Encoder) throws { throw own }
    }

    private struct BrokenEncoding: ParameterEncoding {
        func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws
            -> URLRequest
        {
            throw own
        }
    }

    private struct BrokenEncoder: ParameterEncoder {
        func encode<Parameters: Encodable & Sendable>(_ parameters: Parameters?, into request: URLRequest)
            throws
            -> URLRequest
        { throw own }
    }

    static let preparing: [Row] = [
        Row(testDescription: "asURL()") {
            await $0.session.request(Broken() as any URLConvertible).answered().error
        } isOfStep: {
            $0.isCreateURLRequestError
        },
        Row(testDescription: "asURLRequest()") {
            await $0.session.request(Broken() as any URLRequestConvertible).answered().error
        } isOfStep: {
            $0.isCreateURLRequestError
        },
        Row(testDescription: "a request modifier") { stage in
            await stage.session.request(stage.url()) { _ in throw own }.answered().error
        } isOfStep: {
            $0.isCreateURLRequestError
        },
        Row(testDescription: "a parameter encoding") { stage in
            await stage.session.request(stage.url(), parameters: ["a": "b"], encoding: BrokenEncoding())
                .answered().error
        } isOfStep: {
            $0.isCreateURLRequestError
        },
        Row(testDescription: "a parameter encoder") { stage in
            await stage.session.request(stage.url(), parameters: ["a": "b"], encoder: BrokenEncoder())
                .answered().error
        } isOfStep: {
            $0.isCreateURLRequestError
        },
        Row(testDescription: "encode(to:) in a form") { stage in
            await stage.session.request(stage.url(), method: .post, parameters: Broken()).answered().error
        } isOfStep: {
            $0.isParameterEncoderError
        },
        Row(testDescription: "encode(to:) in JSON") { stage in
            await stage.session.request(stage.url(), method: .post, parameters: Broken(), encoder: .json)
                .answered().error
        } isOfStep: {
            $0.isParameterEncodingError
        },
        Row(testDescription: "an adapter") { stage in
            await stage.session.request(
                stage.url(), interceptor: Adapter { _, _, completion in completion(.failure(own)) }
            ).answered().error
        } isOfStep: {
            $0.isRequestAdaptationError
        },
        Row(testDescription: "a stream in a form") { stage in
            await stage.session.upload(
                multipartFormData: { form in
                    form.append(
                        BrokenStream(own), withLength: 10, name: "a", fileName: "a", mimeType: "a/b")
                }, to: stage.url("/post")
            ).answered().error
        } isOfStep: {
            $0.isMultipartEncodingError
        },
    ]

    // MARK: while the task runs

    static let underway: [Row] = [
        Row(testDescription: "a body stream") { stage in
            await stage.session.upload(BrokenStream(own), to: stage.url("/post")).answered().error
        } isOfStep: {
            $0.isSessionTaskError
        },
        Row(testDescription: "a protocol") { stage in
            await stage.session.request("http://protocol.test/").answered().error
        } isOfStep: {
            $0.isSessionTaskError
        } setUp: {
            PipelineSetUp(configure: { $0.protocolClasses = [FailingProtocol.self] })
        },
        Row(testDescription: "a protocol, of a download") { stage in
            await called { answer in
                stage.session.download("http://protocol.test/").response { answer($0.error) }
            }
        } isOfStep: {
            $0.isSessionTaskError
        } setUp: {
            PipelineSetUp(configure: { $0.protocolClasses = [FailingProtocol.self] })
        },
        Row(testDescription: "a protocol, of a stream") { stage in
            await called { answer in
                stage.session.streamRequest("http://protocol.test/").responseStream { stream in
                    if case .complete(let completion) = stream.event { answer(completion.error) }
                }
            }
        } isOfStep: {
            $0.isSessionTaskError
        } setUp: {
            PipelineSetUp(configure: { $0.protocolClasses = [FailingProtocol.self] })
        },
        Row(testDescription: "an evaluator") { stage in
            await stage.get().answered().error
        } isOfStep: {
            $0.isServerTrustEvaluationError
        } setUp: {
            PipelineSetUp(
                trust: ServerTrustManager(evaluators: ["origin.test": ClosureEvaluator { _ in throw own }]),
                leaf: "good")
        },
        Row(testDescription: "a retrier") { stage in
            await stage.session.request(
                stage.url("/status/500"),
                interceptor: Retrier { _, _, _, completion in completion(.doNotRetryWithError(own)) }
            ).validate().answered().error
        } isOfStep: {
            $0.isRequestRetryError
        },
        Row(testDescription: "the file manager at a download's destination") { stage in
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            return await called { answer in
                stage.session.download(stage.url(), to: { _, _ in (file, []) })
                    .response { answer($0.error) }
            }
        } isOfStep: {
            $0.isDownloadedFileMoveError
        } setUp: {
            PipelineSetUp(delegate: SessionDelegate(fileManager: BrokenFileManager()))
        },
    ]

    private final class FailingProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override func startLoading() { client?.urlProtocol(self, didFailWithError: own) }
        override func stopLoading() {}
    }

    private final class BrokenFileManager: FileManager, @unchecked Sendable {
        override func moveItem(at source: URL, to destination: URL) throws { throw own }
    }

    // MARK: when the response is processed

    private struct BrokenSerializer: ResponseSerializer, DataStreamSerializer {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> String { throw own }
        func serialize(_ data: Data) throws -> String { throw own }
    }

    private struct BrokenDecoder: DataDecoder, DataPreprocessor {
        func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D { throw own }
        func preprocess(_ data: Data) throws -> Data { throw own }
    }

    private struct Undecodable: Decodable, Sendable {
        init(from decoder: any Decoder) throws { throw own }
    }

    static let answering: [Row] = [
        Row(testDescription: "a validator") { stage in
            await stage.get().validate { _, _, _ in .failure(own) }.answered().error
        } isOfStep: {
            $0.isResponseValidationError
        },
        Row(testDescription: "a serializer") { stage in
            await stage.get().serializingResponse(using: BrokenSerializer()).response.error
        } isOfStep: {
            $0.isResponseSerializationError
        },
        Row(testDescription: "a download's serializer") { stage in
            await called { answer in
                stage.session.download(stage.url()).response(responseSerializer: BrokenSerializer()) {
                    response in
                    if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
                    answer(response.error)
                }
            }
        } isOfStep: {
            $0.isResponseSerializationError
        },
        Row(testDescription: "a preprocessor") { stage in
            await stage.get().serializingData(dataPreprocessor: BrokenDecoder()).response.error
        } isOfStep: {
            $0.isResponseSerializationError
        },
        Row(testDescription: "a decoder") { stage in
            await stage.get().serializingDecodable(String.self, decoder: BrokenDecoder()).response.error
        } isOfStep: {
            $0.isResponseSerializationError
        },
        Row(testDescription: "init(from:)") { stage in
            await stage.get().serializingDecodable(Undecodable.self).response.error
        } isOfStep: {
            $0.isResponseSerializationError
        },
        Row(testDescription: "a stream's serializer") { stage in
            await called { answer in
                let isFirst = Protected(true)
                stage.session.streamRequest(stage.url()).responseStream(using: BrokenSerializer()) { stream in
                    guard case .stream(.failure(let error)) = stream.event else { return }
                    if isFirst.write({ isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }) {
                        answer(error)
                    }
                }
            }
        } isOfStep: {
            $0.isResponseSerializationError
        },
        Row(testDescription: "a stream's handler") { stage in
            await called { answer in
                stage.session.streamRequest(stage.url()).responseStream { stream in
                    switch stream.event {
                    case .stream: throw own
                    case .complete(let completion): answer(completion.error)
                    }
                }
            }
        } isOfStep: {
            $0.isResponseSerializationError
        },
    ]

    @Test(
        "[V-12.13] an error that the program throws is the underlying error, wrapped once",
        arguments: preparing + underway + answering,
        TestedHTTP.allCases)
    func errors(_ row: Row, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(row.setUp(), over: testedHTTP) { stage in
            let error = try #require(try await row.failure(stage))
            #expect(error.underlyingError as? OwnError === Self.own, "\(error)")
            #expect(row.isOfStep(error), "\(error)")
            #expect(error.errorDescription?.contains("(null)") == false)
        }
    }
}

/// A body stream that fails after three bytes.
private final class BrokenStream: InputStream {
    private let error: any Error
    private var bytesLeft = 3

    init(_ error: any Error) {
        self.error = error
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { bytesLeft == 3 ? .notOpen : .open }
    override var streamError: (any Error)? { error }
    override var hasBytesAvailable: Bool { true }
    override func open() {}
    override func close() {}
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard bytesLeft > 0 else { return -1 }
        bytesLeft -= 1
        unsafe buffer.pointee = 0x61
        return 1
    }
}
