// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// What an error carries, wherever in it that stands; nil where there is none.
extension AFError {
    /// What made no URL, of `invalidURL`.
    public var urlConvertible: (any URLConvertible)? {
        if case .invalidURL(let convertible) = self { return convertible }
        return nil
    }

    /// The file of a multipart form that made trouble.
    public var url: URL? {
        if case .multipartEncodingFailed(let reason) = self { return reason.url }
        return nil
    }

    /// The error underneath: that of users' code, of Foundation or of the task. Of `requestRetryFailed` it is the
    /// retrier's.
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

    /// The content types that a validator would have taken.
    public var acceptableContentTypes: [String]? {
        if case .responseValidationFailed(let reason) = self { return reason.acceptableContentTypes }
        return nil
    }

    /// The content type that a validator did not take.
    public var responseContentType: String? {
        if case .responseValidationFailed(let reason) = self { return reason.responseContentType }
        return nil
    }

    /// The status code that a validator did not take.
    public var responseCode: Int? {
        if case .responseValidationFailed(let reason) = self { return reason.responseCode }
        return nil
    }

    /// The encoding in which the content is no text.
    public var failedStringEncoding: String.Encoding? {
        if case .responseSerializationFailed(let reason) = self { return reason.failedStringEncoding }
        return nil
    }

    /// The downloaded file that could not be moved.
    public var sourceURL: URL? {
        if case .downloadedFileMoveFailed(_, let source, _) = self { return source }
        return nil
    }

    /// Where a downloaded file was to go.
    public var destinationURL: URL? {
        if case .downloadedFileMoveFailed(_, _, let destination) = self { return destination }
        return nil
    }

    /// What a later download can go on from, when the task of this one failed and left something.
    public var downloadResumeData: Data? {
        (underlyingError as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
    }
}

extension AFError.MultipartEncodingFailureReason {
    /// The file that made trouble.
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

    /// The error underneath.
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
    /// The error underneath.
    var underlyingError: (any Error)? {
        switch self {
        case .jsonEncodingFailed(let error), .customEncodingFailed(let error): error
        case .missingURL: nil
        }
    }
}

extension AFError.ParameterEncoderFailureReason {
    /// The error underneath.
    var underlyingError: (any Error)? {
        switch self {
        case .encoderFailed(let error): error
        case .missingRequiredComponent: nil
        }
    }
}

extension AFError.ResponseValidationFailureReason {
    /// The content types that would have been taken.
    var acceptableContentTypes: [String]? {
        switch self {
        case .missingContentType(let types), .unacceptableContentType(let types, _): types
        case .dataFileNil, .dataFileReadFailed, .unacceptableStatusCode, .customValidationFailed: nil
        }
    }

    /// The content type that was not taken.
    var responseContentType: String? {
        if case .unacceptableContentType(_, let type) = self { return type }
        return nil
    }

    /// The status code that was not taken.
    var responseCode: Int? {
        if case .unacceptableStatusCode(let code) = self { return code }
        return nil
    }

    /// The error underneath.
    var underlyingError: (any Error)? {
        if case .customValidationFailed(let error) = self { return error }
        return nil
    }
}

extension AFError.ResponseSerializationFailureReason {
    /// The encoding in which the content is no text.
    var failedStringEncoding: String.Encoding? {
        if case .stringSerializationFailed(let encoding) = self { return encoding }
        return nil
    }

    /// The error underneath.
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
    /// The error underneath.
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
