// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineLoading

extension ChaosFailure {
    /// The kind of an error of the library's.
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
        // Of a body that is gone nobody can send another one.
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
