// SPDX-License-Identifier: MIT

public import Foundation

/// The error of a failed request. Its case names what failed; its associated values are the data that caused the failure and the
/// underlying error.
///
/// Every error of a `Request` is an `AFError`. If the program's code (an adapter, a serializer, a validator) throws another
/// error, that error becomes the `underlyingError` of the case for that code.
public indirect enum AFError: Error, Sendable {
    /// `UploadableConvertible.createUploadable()` failed.
    case createUploadableFailed(error: any Error)
    /// `URLRequestConvertible.asURLRequest()`, a request modifier or a parameter encoder failed.
    case createURLRequestFailed(error: any Error)
    /// A finished download could not be moved to its destination.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// `cancel()` was called.
    case explicitlyCancelled
    /// A value could not be converted to a URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart form could not be encoded.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// A dictionary of parameters, or the value of a `JSONParameterEncoder`, could not be encoded.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A `ParameterEncoder` failed.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A `RequestAdapter` failed, or returned a request that cannot be sent.
    case requestAdaptationFailed(error: any Error)
    /// A `RequestRetrier` completed with the error `retryError`, after the request had failed with `originalError`.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// A validator rejected the response.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The response could not be converted to the requested value.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// A server trust evaluator rejected the server's certificates.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was deallocated before the request finished.
    case sessionDeinitialized
    /// The session's `URLSession` was invalidated before the request finished.
    case sessionInvalidated(error: (any Error)?)
    /// The `URLSessionTask` failed: `underlyingError` is its `URLError`.
    case sessionTaskFailed(error: any Error)
    /// The `URLRequest` is not valid.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)

    /// The reason why a multipart form could not be encoded: one of its parts is not usable, or the form could not be written to
    /// a file.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The URL of a part's file is not a file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL has no last path component that could be the part's file name, or no path extension.
        case bodyPartFilenameInvalid(in: URL)
        /// The file does not exist or cannot be accessed.
        case bodyPartFileNotReachable(at: URL)
        /// The file does not exist or cannot be accessed, for the reason in the associated error.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The URL is that of a directory.
        case bodyPartFileIsDirectory(at: URL)
        /// The file's size is unknown.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// Querying the file's size failed.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// The file cannot be opened as a stream.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file to write to cannot be opened as a stream.
        case outputStreamCreationFailed(for: URL)
        /// A file already exists at the URL to write to.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL to write to is not a file URL.
        case outputStreamURLInvalid(url: URL)
        /// Writing the form to its file failed.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
    }

    /// The size of a part's stream differs from the size that was passed to `append`.
    public struct UnexpectedInputStreamLength: Error {
        /// The number of bytes that was passed to `append`.
        public var bytesExpected: UInt64
        /// The number of bytes that were read.
        public var bytesRead: UInt64
    }

    /// The reason why parameters in a dictionary could not be encoded.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL to add the parameters to.
        case missingURL
        /// The parameters cannot be encoded as JSON.
        case jsonEncodingFailed(error: any Error)
        /// A custom encoding failed.
        case customEncodingFailed(error: any Error)
    }

    /// The reason why `Encodable` parameters could not be encoded.
    public enum ParameterEncoderFailureReason: Sendable {
        /// A component of the request that the encoder requires.
        public enum RequiredComponent: Sendable {
            /// The URL.
            case url
            /// The method. The associated value is the method that the request has, or `nil` as text.
            case httpMethod(rawValue: String)
        }

        /// The request lacks the component.
        case missingRequiredComponent(RequiredComponent)
        /// The encoder failed.
        case encoderFailed(error: any Error)
    }

    /// The reason why a validator rejected a response.
    public enum ResponseValidationFailureReason: Sendable {
        /// The download has no file.
        case dataFileNil
        /// The download's file cannot be read.
        case dataFileReadFailed(at: URL)
        /// The response does not declare a content type, and the acceptable ones do not include `*/*`.
        case missingContentType(acceptableContentTypes: [String])
        /// The content's type is not among the acceptable ones.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The status code is not acceptable.
        case unacceptableStatusCode(code: Int)
        /// A custom validator failed.
        case customValidationFailed(error: any Error)
    }

    /// The reason why a response could not be converted to a value.
    public enum ResponseSerializationFailureReason: Sendable {
        /// There is no content, and an empty response is not allowed.
        case inputDataNilOrZeroLength
        /// The download has no file.
        case inputFileNil
        /// The download's file cannot be read.
        case inputFileReadFailed(at: URL)
        /// The content is not valid text in the encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The content is not JSON.
        case jsonSerializationFailed(error: any Error)
        /// The content could not be decoded.
        case decodingFailed(error: any Error)
        /// A custom serializer failed.
        case customSerializationFailed(error: any Error)
        /// The response is empty, which its status code or method allows, but the requested type has no value for it.
        case invalidEmptyResponse(type: String)
    }

    /// The reason why a server's certificates were rejected.
    public enum ServerTrustFailureReason: Sendable {
        /// The outcome of an evaluation by `SecTrustEvaluate`.
        public struct Output: Sendable {
            /// The host that was evaluated.
            public let host: String
            /// The evaluated trust.
            public let trust: SecTrust
            /// The status that the evaluation returned.
            public let status: OSStatus
            /// The result that the evaluation returned.
            public let result: SecTrustResultType

            init(_ host: String, _ trust: SecTrust, _ status: OSStatus, _ result: SecTrustResultType) {
                self.host = host
                self.trust = trust
                self.status = status
                self.result = result
            }
        }

        /// Every host must have an evaluator, and this host has none.
        case noRequiredEvaluator(host: String)
        /// An evaluator of pinned certificates has no certificates.
        case noCertificatesFound
        /// An evaluator of pinned keys has no keys.
        case noPublicKeysFound
        /// A policy could not be set on the trust.
        case policyApplicationFailed(trust: SecTrust, policy: SecPolicy, status: OSStatus)
        /// The certificates could not be made the anchors of the trust.
        case settingAnchorCertificatesFailed(status: OSStatus, certificates: [SecCertificate])
        /// The revocation policy could not be created.
        case revocationPolicyCreationFailed
        /// The evaluation failed.
        case trustEvaluationFailed(error: (any Error)?)
        /// The evaluation of the certificates, without the check of the host, failed.
        case defaultEvaluationFailed(output: Output)
        /// The evaluation with the check of the host failed.
        case hostValidationFailed(output: Output)
        /// The evaluation with the revocation check failed.
        case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
        /// None of the certificates of the server's chain is pinned.
        case certificatePinningFailed(
            host: String, trust: SecTrust, pinnedCertificates: [SecCertificate],
            serverCertificates: [SecCertificate])
        /// None of the public keys of the server's chain is pinned.
        case publicKeyPinningFailed(
            host: String, trust: SecTrust, pinnedKeys: [SecKey], serverKeys: [SecKey])
        /// A custom evaluator or trust manager failed.
        case customEvaluationFailed(error: any Error)
    }

    /// The reason why a `URLRequest` is not valid.
    public enum URLRequestValidationFailureReason: Sendable {
        /// A GET request has a body.
        case bodyDataInGETRequest(Data)
    }
}
