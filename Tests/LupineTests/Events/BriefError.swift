// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// An error of the program, identified by its name.
struct BriefError: Error, Equatable {
    let name: String

    init(_ name: String) { self.name = name }
}

/// Returns a short name of an error, for tests to compare.
func brief(_ error: (any Error)?) -> String {
    switch error {
    case nil: "nil"
    case let error as BriefError: error.name
    case let error as URLError:
        switch error.code {
        case .cancelled: "cancelled"
        case .cannotConnectToHost: "cannotConnect"
        case .networkConnectionLost: "lost"
        case .badURL: "badURL"
        case .unsupportedURL: "unsupported"
        case .timedOut: "timedOut"
        default: "url \(error.code.rawValue)"
        }
    case let error as AFError: brief(error)
    case .some: "other"
    }
}

private func brief(_ error: AFError) -> String {
    switch error {
    case .explicitlyCancelled: "explicit"
    case .invalidURL: "invalidURL"
    case .createURLRequestFailed(let error): "create \(brief(error))"
    case .requestAdaptationFailed(let error): "adapt \(brief(error))"
    case .requestRetryFailed(let retryError, let originalError):
        "retry \(brief(retryError)) of \(brief(originalError as (any Error)?))"
    case .responseSerializationFailed(.customSerializationFailed(let error)): "custom \(brief(error))"
    case .responseSerializationFailed: "serialize"
    case .responseValidationFailed(.customValidationFailed(let error)): "validate \(brief(error))"
    case .responseValidationFailed(.unacceptableStatusCode(let code)): "status \(code)"
    case .responseValidationFailed: "validate"
    case .serverTrustEvaluationFailed(.customEvaluationFailed(let error)): "trust \(brief(error))"
    case .serverTrustEvaluationFailed(.noRequiredEvaluator(let host)): "no evaluator \(host)"
    case .serverTrustEvaluationFailed: "trust"
    case .sessionDeinitialized: "deinitialized"
    case .sessionInvalidated: "invalidated"
    case .sessionTaskFailed(let error): "task \(brief(error))"
    case .urlRequestValidationFailed: "body in GET"
    default: "other"
    }
}
