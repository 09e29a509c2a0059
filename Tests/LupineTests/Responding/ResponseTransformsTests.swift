// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

struct ResponseTransformsTests {
    /// The parts of a response of either kind that the transforms affect.
    struct Outcome: Equatable {
        var value: String?
        var error: String?
        var keepsEvidence: Bool
    }

    private let evidence = ResponseEvidence()

    private func outcome<Value, Failure>(_ response: DataResponse<Value, Failure>) -> Outcome {
        Outcome(
            value: response.value.map { "\($0)" }, error: response.error.map { "\($0)" },
            keepsEvidence: response.request == evidence.request && response.response === evidence.response
                && response.data == evidence.data && response.metrics === evidence.metrics
                && response.serializationDuration == 0.5)
    }

    private func outcome<Value, Failure>(_ response: DownloadResponse<Value, Failure>) -> Outcome {
        Outcome(
            value: response.value.map { "\($0)" }, error: response.error.map { "\($0)" },
            keepsEvidence: response.request == evidence.request && response.response === evidence.response
                && response.fileURL == evidence.fileURL && response.resumeData == evidence.data
                && response.metrics === evidence.metrics && response.serializationDuration == 0.5)
    }

    private func data(_ result: Result<Int, InnerError>) -> DataResponse<Int, InnerError> {
        DataResponse(
            request: evidence.request, response: evidence.response, data: evidence.data,
            metrics: evidence.metrics, serializationDuration: 0.5, result: result)
    }

    private func download(_ result: Result<Int, InnerError>) -> DownloadResponse<Int, InnerError> {
        DownloadResponse(
            request: evidence.request, response: evidence.response, fileURL: evidence.fileURL,
            resumeData: evidence.data, metrics: evidence.metrics, serializationDuration: 0.5, result: result)
    }

    private let inner = InnerError(name: "inner")
    private let other = InnerError(name: "other")

    @Test("a response has the value or the error of its result")
    func valueAndError() {
        #expect(data(.success(1)).value == 1)
        #expect(data(.success(1)).error == nil)
        #expect(data(.failure(inner)).value == nil)
        #expect(data(.failure(inner)).error == inner)
        #expect(download(.success(1)).value == 1)
        #expect(download(.failure(inner)).error == inner)
        #expect(outcome(data(.success(1))).keepsEvidence)
        #expect(outcome(download(.success(1))).keepsEvidence)
    }

    @Test("[V-5.1] a value is transformed, and the other properties are kept")
    func transformsValues() {
        let expected = Outcome(value: "2", error: nil, keepsEvidence: true)
        #expect(outcome(data(.success(1)).map { "\($0 + 1)" }) == expected)
        #expect(outcome(data(.success(1)).tryMap { "\($0 + 1)" }) == expected)
        #expect(outcome(download(.success(1)).map { "\($0 + 1)" }) == expected)
        #expect(outcome(download(.success(1)).tryMap { "\($0 + 1)" }) == expected)
    }

    @Test("[V-5.1] an error is transformed, and the other properties are kept")
    func transformsErrors() {
        let expected = Outcome(value: nil, error: "inner printed again printed", keepsEvidence: true)
        let again = { (error: InnerError) in InnerError(name: "\(error) again") }
        #expect(outcome(data(.failure(inner)).mapError(again)) == expected)
        #expect(outcome(data(.failure(inner)).tryMapError(again)) == expected)
        #expect(outcome(download(.failure(inner)).mapError(again)) == expected)
        #expect(outcome(download(.failure(inner)).tryMapError(again)) == expected)
    }

    @Test("[V-5.1] transforms of values are not called for failures")
    func keepsErrors() {
        let calls = Protected(0)
        let expected = Outcome(value: nil, error: "inner printed", keepsEvidence: true)
        func count(_ value: Int) -> String {
            calls.write { $0 += 1 }
            return ""
        }
        #expect(outcome(data(.failure(inner)).map(count)) == expected)
        #expect(outcome(data(.failure(inner)).tryMap(count)) == expected)
        #expect(outcome(download(.failure(inner)).map(count)) == expected)
        #expect(outcome(download(.failure(inner)).tryMap(count)) == expected)
        #expect(calls.read { $0 } == 0)
    }

    @Test("[V-5.1] transforms of errors are not called for successes")
    func keepsValues() {
        let calls = Protected(0)
        let expected = Outcome(value: "1", error: nil, keepsEvidence: true)
        func count(_ error: InnerError) -> InnerError {
            calls.write { $0 += 1 }
            return error
        }
        #expect(outcome(data(.success(1)).mapError(count)) == expected)
        #expect(outcome(data(.success(1)).tryMapError(count)) == expected)
        #expect(outcome(download(.success(1)).mapError(count)) == expected)
        #expect(outcome(download(.success(1)).tryMapError(count)) == expected)
        #expect(calls.read { $0 } == 0)
    }

    @Test("[V-5.2] a transform's error is the failure, unchanged")
    func throwingTransforms() {
        let expected = Outcome(value: nil, error: "other printed", keepsEvidence: true)
        func refuse(_ value: Int) throws -> String { throw other }
        func refuse(_ error: InnerError) throws -> InnerError { throw other }
        #expect(outcome(data(.success(1)).tryMap(refuse)) == expected)
        #expect(outcome(data(.failure(inner)).tryMapError(refuse)) == expected)
        #expect(outcome(download(.success(1)).tryMap(refuse)) == expected)
        #expect(outcome(download(.failure(inner)).tryMapError(refuse)) == expected)
        #expect(data(.success(1)).tryMap(refuse).error is InnerError)
    }
}
