// SPDX-License-Identifier: MIT

/// One property for each case, which is true for errors of that case. As in Alamofire, `urlRequestValidationFailed` has none.
extension AFError {
    /// Whether the session was deallocated before the request finished.
    public var isSessionDeinitializedError: Bool {
        if case .sessionDeinitialized = self { return true }
        return false
    }

    /// Whether the session was invalidated before the request finished.
    public var isSessionInvalidatedError: Bool {
        if case .sessionInvalidated = self { return true }
        return false
    }

    /// Whether the request was cancelled.
    public var isExplicitlyCancelledError: Bool {
        if case .explicitlyCancelled = self { return true }
        return false
    }

    /// Whether a value could not be converted to a URL; `urlConvertible` is that value.
    public var isInvalidURLError: Bool {
        if case .invalidURL = self { return true }
        return false
    }

    /// Whether parameters in a dictionary could not be encoded; `underlyingError` may say more.
    public var isParameterEncodingError: Bool {
        if case .parameterEncodingFailed = self { return true }
        return false
    }

    /// Whether `Encodable` parameters could not be encoded; `underlyingError` may say more.
    public var isParameterEncoderError: Bool {
        if case .parameterEncoderFailed = self { return true }
        return false
    }

    /// Whether a multipart form could not be encoded; `url` and `underlyingError` may say more.
    public var isMultipartEncodingError: Bool {
        if case .multipartEncodingFailed = self { return true }
        return false
    }

    /// Whether an adapter failed; `underlyingError` says why.
    public var isRequestAdaptationError: Bool {
        if case .requestAdaptationFailed = self { return true }
        return false
    }

    /// Whether a retrier completed with an error; `underlyingError` is that error.
    public var isRequestRetryError: Bool {
        if case .requestRetryFailed = self { return true }
        return false
    }

    /// Whether a validator rejected the response; `acceptableContentTypes`, `responseContentType`, `responseCode` and
    /// `underlyingError` may say more.
    public var isResponseValidationError: Bool {
        if case .responseValidationFailed = self { return true }
        return false
    }

    /// Whether the response could not be serialized; `failedStringEncoding` and `underlyingError` may say more.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { return true }
        return false
    }

    /// Whether a server trust evaluator rejected the server; `underlyingError` may say more.
    public var isServerTrustEvaluationError: Bool {
        if case .serverTrustEvaluationFailed = self { return true }
        return false
    }

    /// Whether the upload's content could not be created; `underlyingError` says why.
    public var isCreateUploadableError: Bool {
        if case .createUploadableFailed = self { return true }
        return false
    }

    /// Whether the request could not be created; `underlyingError` says why.
    public var isCreateURLRequestError: Bool {
        if case .createURLRequestFailed = self { return true }
        return false
    }

    /// Whether a download could not be moved; `sourceURL`, `destinationURL` and `underlyingError` say more.
    public var isDownloadedFileMoveError: Bool {
        if case .downloadedFileMoveFailed = self { return true }
        return false
    }

    /// Whether the task failed; `underlyingError` says why.
    public var isSessionTaskError: Bool {
        if case .sessionTaskFailed = self { return true }
        return false
    }
}
