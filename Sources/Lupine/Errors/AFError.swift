// SPDX-License-Identifier: MIT

public import Foundation

/// Why a request failed: the step that failed, with what it was working on and the error underneath.
///
/// Every failure of a `Request` is one of these. Errors of users' code (adapters, serializers, validators) are wrapped
/// by the case of the step that ran them, unless they are an `AFError` already (see `underlyingError`).
public indirect enum AFError: Error, Sendable {
    /// `UploadableConvertible.createUploadable()` failed.
    case createUploadableFailed(error: any Error)
    /// `URLRequestConvertible.asURLRequest()`, a request modifier or a parameter encoder failed.
    case createURLRequestFailed(error: any Error)
    /// A finished download could not be moved to where it was to go.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// `cancel()` was called.
    case explicitlyCancelled
    /// What was given is no URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart form could not be encoded.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// A dictionary of parameters, or the value of a `JSONParameterEncoder`, could not be encoded.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A `ParameterEncoder` failed.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A `RequestAdapter` failed, or gave a request that cannot be sent.
    case requestAdaptationFailed(error: any Error)
    /// A `RequestRetrier` answered a failure with an error of its own.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// A validator refused the response.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The response could not be made into the value that was asked for.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// An evaluator refused the server's certificates.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was released while the request was not finished.
    case sessionDeinitialized
    /// The session's `URLSession` was invalidated while the request was not finished.
    case sessionInvalidated(error: (any Error)?)
    /// The `URLSessionTask` failed: `underlyingError` is its `URLError`.
    case sessionTaskFailed(error: any Error)
    /// The request cannot be sent as it is.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)

    /// What is wrong with a part of a multipart form, or with the file that it is written to.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The URL of a part's file is no file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL has no last component, or no extension, to name the part by.
        case bodyPartFilenameInvalid(in: URL)
        /// The file cannot be reached.
        case bodyPartFileNotReachable(at: URL)
        /// The file cannot be reached, for that reason.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The URL is that of a folder.
        case bodyPartFileIsDirectory(at: URL)
        /// The file's size is not known.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// Asking for the file's size failed.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// The file cannot be opened as a stream.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file to write to cannot be opened as a stream.
        case outputStreamCreationFailed(for: URL)
        /// There is a file already where the form was to be written.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL to write to is no file URL.
        case outputStreamURLInvalid(url: URL)
        /// Writing failed.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
    }

    /// A part's stream gave another number of bytes than was announced for it.
    public struct UnexpectedInputStreamLength: Error {
        /// The number that was announced.
        public var bytesExpected: UInt64
        /// The number that came.
        public var bytesRead: UInt64
    }

    /// What is wrong with parameters in a dictionary.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL to put them into.
        case missingURL
        /// They cannot be written as JSON.
        case jsonEncodingFailed(error: any Error)
        /// An encoding of the program's own failed.
        case customEncodingFailed(error: any Error)
    }

    /// What is wrong with `Encodable` parameters.
    public enum ParameterEncoderFailureReason: Sendable {
        /// What the request has to have for its parameters to be encoded.
        public enum RequiredComponent: Sendable {
            /// The URL.
            case url
            /// The method; the value is what stands there instead.
            case httpMethod(rawValue: String)
        }

        /// The request lacks that.
        case missingRequiredComponent(RequiredComponent)
        /// The encoder failed.
        case encoderFailed(error: any Error)
    }

    /// What a validator did not like.
    public enum ResponseValidationFailureReason: Sendable {
        /// A download left no file.
        case dataFileNil
        /// The download's file cannot be read.
        case dataFileReadFailed(at: URL)
        /// The response does not say what type its content has, and not every type is acceptable.
        case missingContentType(acceptableContentTypes: [String])
        /// The content's type is not among the acceptable ones.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The status code is not acceptable.
        case unacceptableStatusCode(code: Int)
        /// A validator of the program's own failed.
        case customValidationFailed(error: any Error)
    }

    /// Why a response could not be made into a value.
    public enum ResponseSerializationFailureReason: Sendable {
        /// There is no content, and the response is not one that may be empty.
        case inputDataNilOrZeroLength
        /// A download left no file.
        case inputFileNil
        /// The download's file cannot be read.
        case inputFileReadFailed(at: URL)
        /// The content is no text in that encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The content is no JSON.
        case jsonSerializationFailed(error: any Error)
        /// The content could not be decoded.
        case decodingFailed(error: any Error)
        /// A serializer of the program's own failed.
        case customSerializationFailed(error: any Error)
        /// The response is empty and may be, but the type that was asked for has no empty value.
        case invalidEmptyResponse(type: String)
    }

    /// Why a server's certificates were refused.
    public enum ServerTrustFailureReason: Sendable {
        /// What a judgement by `SecTrustEvaluate` came to.
        public struct Output: Sendable {
            /// The host that was to be proved.
            public let host: String
            /// What was judged.
            public let trust: SecTrust
            /// The status that came back.
            public let status: OSStatus
            /// The result.
            public let result: SecTrustResultType

            init(_ host: String, _ trust: SecTrust, _ status: OSStatus, _ result: SecTrustResultType) {
                self.host = host
                self.trust = trust
                self.status = status
                self.result = result
            }
        }

        /// Every host has to have an evaluator, and this one has none.
        case noRequiredEvaluator(host: String)
        /// An evaluator of pinned certificates has none.
        case noCertificatesFound
        /// An evaluator of pinned keys has none.
        case noPublicKeysFound
        /// A policy could not be set.
        case policyApplicationFailed(trust: SecTrust, policy: SecPolicy, status: OSStatus)
        /// The anchors could not be set.
        case settingAnchorCertificatesFailed(status: OSStatus, certificates: [SecCertificate])
        /// The policy for revocation could not be made.
        case revocationPolicyCreationFailed
        /// The judgement was no.
        case trustEvaluationFailed(error: (any Error)?)
        /// The judgement without the host was no.
        case defaultEvaluationFailed(output: Output)
        /// The judgement with the host was no.
        case hostValidationFailed(output: Output)
        /// The judgement with revocation was no.
        case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
        /// None of the chain's certificates is pinned.
        case certificatePinningFailed(
            host: String, trust: SecTrust, pinnedCertificates: [SecCertificate],
            serverCertificates: [SecCertificate])
        /// None of the chain's keys is pinned.
        case publicKeyPinningFailed(
            host: String, trust: SecTrust, pinnedKeys: [SecKey], serverKeys: [SecKey])
        /// An evaluator or a manager of the program's own failed.
        case customEvaluationFailed(error: any Error)
    }

    /// Why a request cannot be sent.
    public enum URLRequestValidationFailureReason: Sendable {
        /// A GET request has a body.
        case bodyDataInGETRequest(Data)
    }
}
