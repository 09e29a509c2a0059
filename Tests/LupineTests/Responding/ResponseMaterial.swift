// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// What serializers and validators are given in tests: requests, responses, preprocessors that keep count, errors.
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

    /// A file of the test's own, removed afterwards.
    static func withFile(_ content: Data?, _ body: (URL) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-\(UUID().uuidString)")
        try content?.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file)
    }
}

/// An error of the program's.
enum ResponseTestError: Error, Equatable { case first, second }

/// Answers with what it is told, and keeps what it was given.
final class SpyPreprocessor: DataPreprocessor {
    private let seen = SeenValues<Data>()
    private let answer: Result<Data?, ResponseTestError>

    /// Nil: answers with its input.
    init(_ answer: Result<Data?, ResponseTestError> = .success(nil)) { self.answer = answer }

    var inputs: [Data] { seen.all }

    func preprocess(_ data: Data) throws -> Data {
        seen.note(data)
        return try answer.get() ?? data
    }
}

/// Decodes whatever it is told, and keeps what it was given.
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
    /// The reason, when it is a failure of serialization.
    var serializationReason: AFError.ResponseSerializationFailureReason? {
        guard case .responseSerializationFailed(let reason)? = self as? AFError else { return nil }
        return reason
    }

    /// The reason, when it is a failure of validation.
    var validationReason: AFError.ResponseValidationFailureReason? {
        guard case .responseValidationFailed(let reason)? = self as? AFError else { return nil }
        return reason
    }
}

/// What `body` throws; nil when it does not.
func thrown(by body: () throws -> Void) -> (any Error)? {
    do { try body() } catch { return error }
    return nil
}
