// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// Describes each error in a sentence for developers, with the data that caused it.
extension AFError: LocalizedError {
    /// A description of the failure and of the data that caused it; never nil. `localizedDescription` returns the same text. The
    /// text contains data of the request, so show it only to people who may see that data.
    public var errorDescription: String? {
        switch self {
        case .explicitlyCancelled: "The request was cancelled on purpose."
        case .invalidURL(let convertible):
            "This is not a valid URL: \(LogRedaction.withoutUserInfo("\(convertible)"))"
        case .createURLRequestFailed(let error):
            "The URLRequest could not be created: \(error.localizedDescription)"
        case .createUploadableFailed(let error):
            "What was to be uploaded could not be created: \(error.localizedDescription)"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "The downloaded file \(source) could not be moved to \(destination): \(error.localizedDescription)"
        case .multipartEncodingFailed(let reason): reason.localizedDescription
        case .parameterEncodingFailed(let reason): reason.localizedDescription
        case .parameterEncoderFailed(let reason): reason.localizedDescription
        case .requestAdaptationFailed(let error):
            "The request could not be adapted: \(error.localizedDescription)"
        case .requestRetryFailed(let retryError, let originalError):
            "The request could not be retried: \(retryError.localizedDescription) "
                + "It had failed before: \(originalError.localizedDescription)"
        case .responseValidationFailed(let reason): reason.localizedDescription
        case .responseSerializationFailed(let reason): reason.localizedDescription
        case .serverTrustEvaluationFailed(let reason):
            "The server was not trusted. \(reason.localizedDescription)"
        case .sessionDeinitialized:
            "The session was invalidated without an error, so it was probably deallocated. "
                + "Keep a strong reference to it while its requests run."
        case .sessionInvalidated(let error):
            "The session was invalidated: \(error?.localizedDescription ?? "there is no description.")"
        case .sessionTaskFailed(let error):
            "The URLSessionTask failed: \(error.localizedDescription)"
        case .urlRequestValidationFailed(let reason):
            "The URLRequest cannot be sent. \(reason.localizedDescription)"
        }
    }
}

extension AFError.MultipartEncodingFailureReason {
    /// The reason as a sentence.
    var localizedDescription: String {
        switch self {
        case .bodyPartURLInvalid(let url): "The URL of the part is not a file URL: \(url)"
        case .bodyPartFilenameInvalid(let url):
            "The URL of the part has no file name, or the file name has no extension: \(url)"
        case .bodyPartFileNotReachable(let url): "The file of the part cannot be reached: \(url)"
        case .bodyPartFileNotReachableWithError(let url, let error):
            "Whether the file of the part can be reached was not found out: \(url), because of \(error)"
        case .bodyPartFileIsDirectory(let url): "The file of the part is a directory: \(url)"
        case .bodyPartFileSizeNotAvailable(let url): "The size of the part's file is not known: \(url)"
        case .bodyPartFileSizeQueryFailedWithError(let url, let error):
            "The size of the part's file could not be asked for: \(url), because of \(error)"
        case .bodyPartInputStreamCreationFailed(let url):
            "The file of the part could not be opened to be read: \(url)"
        case .outputStreamCreationFailed(let url): "The form's file could not be opened to be written: \(url)"
        case .outputStreamFileAlreadyExists(let url):
            "The form cannot be written where there is a file already: \(url)"
        case .outputStreamURLInvalid(let url): "The URL to write the form to is not a file URL: \(url)"
        case .outputStreamWriteFailed(let error): "The form could not be written, because of \(error)"
        case .inputStreamReadFailed(let error): "A part could not be read, because of \(error)"
        }
    }
}

extension AFError.ParameterEncodingFailureReason {
    /// The reason as a sentence.
    var localizedDescription: String {
        switch self {
        case .missingURL: "The request has no URL to encode parameters into."
        case .jsonEncodingFailed(let error):
            "The parameters could not be encoded as JSON: \(error.localizedDescription)"
        case .customEncodingFailed(let error):
            "The parameters could not be encoded by a custom encoding: \(error.localizedDescription)"
        }
    }
}

extension AFError.ParameterEncoderFailureReason {
    /// The reason as a sentence.
    var localizedDescription: String {
        switch self {
        case .missingRequiredComponent(let component):
            "The request lacks what its parameters cannot be encoded without: \(component)"
        case .encoderFailed(let error): "The parameters could not be encoded, because of \(error)"
        }
    }
}

extension AFError.ResponseValidationFailureReason {
    /// The reason as a sentence.
    var localizedDescription: String {
        switch self {
        case .dataFileNil: "The response could not be validated: the download left no file."
        case .dataFileReadFailed(let url):
            "The response could not be validated: the file cannot be read: \(url)"
        case .missingContentType(let acceptable):
            "The response does not say its content type, and the acceptable ones "
                + "(\(acceptable.joined(separator: ","))) do not include \"*/*\"."
        case .unacceptableContentType(let acceptable, let type):
            "The response's content type \"\(type)\" is none of the acceptable ones: "
                + acceptable.joined(separator: ",")
        case .unacceptableStatusCode(let code): "The response's status code is not acceptable: \(code)"
        case .customValidationFailed(let error):
            "A custom validation refused the response: \(error.localizedDescription)"
        }
    }
}

extension AFError.ResponseSerializationFailureReason {
    /// The reason as a sentence.
    var localizedDescription: String {
        switch self {
        case .inputDataNilOrZeroLength:
            "The response could not be serialized: its data is nil or has no bytes."
        case .inputFileNil: "The response could not be serialized: the download left no file."
        case .inputFileReadFailed(let url):
            "The response could not be serialized: the file cannot be read: \(url)"
        case .stringSerializationFailed(let encoding):
            "The response is not text in the encoding \(encoding)."
        case .jsonSerializationFailed(let error):
            "The response could not be read as JSON: \(error.localizedDescription)"
        case .decodingFailed(let error):
            "The response could not be decoded: "
                + ((error as? DecodingError)?.summary ?? error.localizedDescription)
        case .customSerializationFailed(let error):
            "A custom serializer could not serialize the response: \(error.localizedDescription)"
        case .invalidEmptyResponse(let type):
            "The response is empty and cannot be made into \(type). "
                + "Ask for the type Empty where responses have no content."
        }
    }
}

extension AFError.ServerTrustFailureReason {
    /// The reason as a sentence.
    var localizedDescription: String {
        switch self {
        case .noRequiredEvaluator(let host):
            "Every host has to have an evaluator, and there is none for the host \(host)."
        case .noCertificatesFound: "There are no certificates to pin the server's to."
        case .noPublicKeysFound: "There are no public keys to pin the server's to."
        case .policyApplicationFailed(_, _, let status):
            "The policy could not be set on the trust (status \(status))."
        case .settingAnchorCertificatesFailed(let status, let certificates):
            "The \(certificates.count) given certificates could not be made anchors (status \(status))."
        case .revocationPolicyCreationFailed: "The policy for revocation could not be created."
        case .trustEvaluationFailed(let error):
            "The evaluation failed: \(error?.localizedDescription ?? "there is no description.")"
        case .defaultEvaluationFailed(let output):
            "The default evaluation failed for the host \(output.host) (\(output.summary))."
        case .hostValidationFailed(let output):
            "The certificate was not accepted for the host \(output.host) (\(output.summary))."
        case .revocationCheckFailed(let output, _):
            "The revocation check failed for the host \(output.host) (\(output.summary))."
        case .certificatePinningFailed(let host, _, let pinned, let presented):
            "None of the \(presented.count) certificates of the host \(host) is one of "
                + "the \(pinned.count) pinned ones."
        case .publicKeyPinningFailed(let host, _, let pinned, let presented):
            "None of the \(presented.count) public keys of the host \(host) is one of "
                + "the \(pinned.count) pinned ones."
        case .customEvaluationFailed(let error):
            "A custom evaluation failed: \(error.localizedDescription)"
        }
    }
}

extension AFError.ServerTrustFailureReason.Output {
    /// The status and the result as text.
    fileprivate var summary: String { "status \(status), result \(result)" }
}

extension AFError.URLRequestValidationFailureReason {
    /// The reason as a sentence.
    var localizedDescription: String {
        switch self {
        case .bodyDataInGETRequest(let body):
            "A GET request must not have a body, and this one has: \(String(decoding: body, as: UTF8.self))"
        }
    }
}
