// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// Properties that return the associated values of an error or of its reason; nil if the case has no such value.
extension AFError {
    /// The value of `invalidURL` that could not be converted to a URL.
    public var urlConvertible: (any URLConvertible)? {
        if case .invalidURL(let convertible) = self { return convertible }
        return nil
    }

    /// The URL of the file that a multipart form failed on.
    public var url: URL? {
        if case .multipartEncodingFailed(let reason) = self { return reason.url }
        return nil
    }

    /// The error that caused this error. Code of the program, Foundation or the task has thrown it. For `requestRetryFailed`, the
    /// retrier's error.
    public var underlyingError: (any Error)? {
        switch self {
        case .createUploadableFailed(let error), .createURLRequestFailed(let error),
            .downloadedFileMoveFailed(let error, _, _), .requestAdaptationFailed(let error),
            .requestRetryFailed(let error, _), .sessionTaskFailed(let error):
            error
        case .sessionInvalidated(let error): error
        case .multipartEncodingFailed(let reason): reason.underlyingError
        case .parameterEncodingFailed(let reason): reason.underlyingError
        case .parameterEncoderFailed(let reason): reason.underlyingError
        case .responseValidationFailed(let reason): reason.underlyingError
        case .responseSerializationFailed(let reason): reason.underlyingError
        case .serverTrustEvaluationFailed(let reason): reason.underlyingError
        case .explicitlyCancelled, .invalidURL, .sessionDeinitialized, .urlRequestValidationFailed: nil
        }
    }

    /// The content types that a validator accepts.
    public var acceptableContentTypes: [String]? {
        if case .responseValidationFailed(let reason) = self { return reason.acceptableContentTypes }
        return nil
    }

    /// The content type that a validator rejected.
    public var responseContentType: String? {
        if case .responseValidationFailed(let reason) = self { return reason.responseContentType }
        return nil
    }

    /// The status code that a validator rejected.
    public var responseCode: Int? {
        if case .responseValidationFailed(let reason) = self { return reason.responseCode }
        return nil
    }

    /// The encoding in which the content could not be decoded.
    public var failedStringEncoding: String.Encoding? {
        if case .responseSerializationFailed(let reason) = self { return reason.failedStringEncoding }
        return nil
    }

    /// The downloaded file that could not be moved.
    public var sourceURL: URL? {
        if case .downloadedFileMoveFailed(_, let source, _) = self { return source }
        return nil
    }

    /// The destination of the downloaded file that could not be moved.
    public var destinationURL: URL? {
        if case .downloadedFileMoveFailed(_, _, let destination) = self { return destination }
        return nil
    }

    /// The resume data of a failed download task; nil if the download cannot be resumed.
    public var downloadResumeData: Data? {
        (underlyingError as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
    }
}

extension AFError.MultipartEncodingFailureReason {
    /// The URL of the file that caused the failure.
    var url: URL? {
        switch self {
        case .bodyPartURLInvalid(let url), .bodyPartFilenameInvalid(let url),
            .bodyPartFileNotReachable(let url), .bodyPartFileNotReachableWithError(let url, _),
            .bodyPartFileIsDirectory(let url), .bodyPartFileSizeNotAvailable(let url),
            .bodyPartFileSizeQueryFailedWithError(let url, _), .bodyPartInputStreamCreationFailed(let url),
            .outputStreamCreationFailed(let url), .outputStreamFileAlreadyExists(let url),
            .outputStreamURLInvalid(let url):
            url
        case .outputStreamWriteFailed, .inputStreamReadFailed: nil
        }
    }

    /// The underlying error.
    var underlyingError: (any Error)? {
        switch self {
        case .bodyPartFileNotReachableWithError(_, let error),
            .bodyPartFileSizeQueryFailedWithError(_, let error), .outputStreamWriteFailed(let error),
            .inputStreamReadFailed(let error):
            error
        case .bodyPartURLInvalid, .bodyPartFilenameInvalid, .bodyPartFileNotReachable,
            .bodyPartFileIsDirectory, .bodyPartFileSizeNotAvailable, .bodyPartInputStreamCreationFailed,
            .outputStreamCreationFailed, .outputStreamFileAlreadyExists, .outputStreamURLInvalid:
            nil
        }
    }
}

extension AFError.ParameterEncodingFailureReason {
    /// The underlying error.
    var underlyingError: (any Error)? {
        switch self {
        case .jsonEncodingFailed(let error), .customEncodingFailed(let error): error
        case .missingURL: nil
        }
    }
}

extension AFError.ParameterEncoderFailureReason {
    /// The underlying error.
    var underlyingError: (any Error)? {
        switch self {
        case .encoderFailed(let error): error
        case .missingRequiredComponent: nil
        }
    }
}

extension AFError.ResponseValidationFailureReason {
    /// The acceptable content types.
    var acceptableContentTypes: [String]? {
        switch self {
        case .missingContentType(let types), .unacceptableContentType(let types, _): types
        case .dataFileNil, .dataFileReadFailed, .unacceptableStatusCode, .customValidationFailed: nil
        }
    }

    /// The rejected content type.
    var responseContentType: String? {
        if case .unacceptableContentType(_, let type) = self { return type }
        return nil
    }

    /// The rejected status code.
    var responseCode: Int? {
        if case .unacceptableStatusCode(let code) = self { return code }
        return nil
    }

    /// The underlying error.
    var underlyingError: (any Error)? {
        if case .customValidationFailed(let error) = self { return error }
        return nil
    }
}

extension AFError.ResponseSerializationFailureReason {
    /// The encoding in which the content could not be decoded.
    var failedStringEncoding: String.Encoding? {
        if case .stringSerializationFailed(let encoding) = self { return encoding }
        return nil
    }

    /// The underlying error.
    var underlyingError: (any Error)? {
        switch self {
        case .jsonSerializationFailed(let error), .decodingFailed(let error),
            .customSerializationFailed(let error):
            error
        case .inputDataNilOrZeroLength, .inputFileNil, .inputFileReadFailed, .stringSerializationFailed,
            .invalidEmptyResponse:
            nil
        }
    }
}

extension AFError.ServerTrustFailureReason {
    /// The underlying error.
    var underlyingError: (any Error)? {
        switch self {
        case .customEvaluationFailed(let error): error
        case .trustEvaluationFailed(let error): error
        case .noRequiredEvaluator, .noCertificatesFound, .noPublicKeysFound, .policyApplicationFailed,
            .settingAnchorCertificatesFailed, .revocationPolicyCreationFailed, .defaultEvaluationFailed,
            .hostValidationFailed, .revocationCheckFailed, .certificatePinningFailed,
            .publicKeyPinningFailed:
            nil
        }
    }
}
