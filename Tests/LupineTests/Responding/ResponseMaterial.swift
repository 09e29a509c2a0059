// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Input for serializers and validators: requests, responses and files.
enum ResponseMaterial {
    static let address = URL(string: "http://origin.test/")

    static func request(_ method: HTTPMethod, accept: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(address))
        request.httpMethod = method.rawValue
        if let accept { request.setValue(accept, forHTTPHeaderField: "Accept") }
        return request
    }

    static func response(_ status: Int = 200, type: String? = nil) throws -> HTTPURLResponse {
        let url = try #require(address)
        let fields = type.map { ["Content-Type": $0] }
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    /// Runs `body` with a new file, and removes it.
    static func withFile(_ content: Data?, _ body: (URL) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-\(UUID().uuidString)")
        try content?.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file)
    }
}

/// An error of the program.
enum ResponseTestError: Error, Equatable { case first, second }

/// A preprocessor that returns a given result, and records its inputs.
final class SpyPreprocessor: DataPreprocessor {
    private let seen = SeenValues<Data>()
    private let answer: Result<Data?, ResponseTestError>

    /// With a successful nil, it returns its input.
    init(_ answer: Result<Data?, ResponseTestError> = .success(nil)) { self.answer = answer }

    var inputs: [Data] { seen.all }

    func preprocess(_ data: Data) throws -> Data {
        seen.note(data)
        return try answer.get() ?? data
    }
}

/// A decoder that fails with a given error, if any, and records its inputs.
final class SpyDecoder: DataDecoder {
    private let seen = SeenValues<Data>()
    private let error: ResponseTestError?

    init(_ error: ResponseTestError? = nil) { self.error = error }

    var inputs: [Data] { seen.all }

    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        seen.note(data)
        if let error { throw error }
        return try JSONDecoder().decode(type, from: data)
    }
}

extension Error {
    /// The reason of a serialization failure.
    var serializationReason: AFError.ResponseSerializationFailureReason? {
        guard case .responseSerializationFailed(let reason)? = self as? AFError else { return nil }
        return reason
    }

    /// The reason of a validation failure.
    var validationReason: AFError.ResponseValidationFailureReason? {
        guard case .responseValidationFailed(let reason)? = self as? AFError else { return nil }
        return reason
    }
}

/// Returns the error that `body` throws, or nil.
func thrown(by body: () throws -> Void) -> (any Error)? {
    do { try body() } catch { return error }
    return nil
}
