// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineLoading

extension ChaosFailure {
    /// Classifies an error of the library.
    init(_ error: any Error) {
        guard let error = error as? AFError else {
            self = .unexpected
            return
        }
        switch error {
        case .explicitlyCancelled: self = .cancelled
        case .responseValidationFailed(.unacceptableStatusCode(503)): self = .refusedStatus
        case .sessionTaskFailed(let inner as URLError): self = Self.kind(of: inner.code)
        default: self = .unexpected
        }
    }

    private static func kind(of code: URLError.Code) -> ChaosFailure {
        switch code {
        case .cannotConnectToHost: .cannotConnect
        case .timedOut: .timedOut
        // A body that was consumed cannot be sent again.
        case .networkConnectionLost, .requestBodyStreamExhausted: .lost
        case .badServerResponse: .badResponse
        case .dataLengthExceedsMaximum: .tooLarge
        case .secureConnectionFailed: .insecure
        case .serverCertificateUntrusted: .untrusted
        case .cannotDecodeRawData: .corrupt
        case .cannotDecodeContentData: .cutShort
        case .cancelled: .cancelled
        default: .unexpected
        }
    }
}
