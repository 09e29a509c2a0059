// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import Lupine

/// An error that underlies others, with different texts as `errorDescription` and as `description`.
struct InnerError: LocalizedError, CustomStringConvertible, Equatable {
    var name: String

    var errorDescription: String? { "\(name) told" }
    var description: String { "\(name) printed" }
}

/// One case of `AFError`, with one reason, and the values that its properties must have.
struct AFErrorRow: Sendable, CustomTestStringConvertible {
    /// The case or the reason with its labels, as in the tables of public names.
    var name: String
    var error: AFError
    /// The name of the only `is...Error` property that is true.
    var trueProperty: String?
    /// Texts that the description must contain.
    var descriptionParts: [String] = []
    var underlying: InnerError?
    var convertible: String?
    var url: URL?
    var acceptable: [String]?
    var type: String?
    var code: Int?
    var encoding: String.Encoding?
    var source: URL?
    var destination: URL?

    var testDescription: String { name }

    /// All `is...Error` properties, by name.
    static let isErrorProperties: [(name: String, value: @Sendable (AFError) -> Bool)] = [
        ("isSessionDeinitializedError", { $0.isSessionDeinitializedError }),
        ("isSessionInvalidatedError", { $0.isSessionInvalidatedError }),
        ("isExplicitlyCancelledError", { $0.isExplicitlyCancelledError }),
        ("isInvalidURLError", { $0.isInvalidURLError }),
        ("isParameterEncodingError", { $0.isParameterEncodingError }),
        ("isParameterEncoderError", { $0.isParameterEncoderError }),
        ("isMultipartEncodingError", { $0.isMultipartEncodingError }),
        ("isRequestAdaptationError", { $0.isRequestAdaptationError }),
        ("isRequestRetryError", { $0.isRequestRetryError }),
        ("isResponseValidationError", { $0.isResponseValidationError }),
        ("isResponseSerializationError", { $0.isResponseSerializationError }),
        ("isServerTrustEvaluationError", { $0.isServerTrustEvaluationError }),
        ("isCreateUploadableError", { $0.isCreateUploadableError }),
        ("isCreateURLRequestError", { $0.isCreateURLRequestError }),
        ("isDownloadedFileMoveError", { $0.isDownloadedFileMoveError }),
        ("isSessionTaskError", { $0.isSessionTaskError }),
    ]

    static let file = URL(fileURLWithPath: "/tmp/folder/part.txt")
    static let other = URL(fileURLWithPath: "/tmp/folder/whole.txt")
    static let inner = InnerError(name: "inner")

    /// All cases and reasons, except those about trust.
    static let plain: [AFErrorRow] = steps + multipart + parameters + validation + serialization
}

extension AFErrorRow {
    private static let steps: [AFErrorRow] = [
        AFErrorRow(
            name: "createUploadableFailed(error:)", error: .createUploadableFailed(error: inner),
            trueProperty: "isCreateUploadableError", descriptionParts: ["uploaded", "inner told"],
            underlying: inner),
        AFErrorRow(
            name: "createURLRequestFailed(error:)", error: .createURLRequestFailed(error: inner),
            trueProperty: "isCreateURLRequestError", descriptionParts: ["URLRequest", "inner told"],
            underlying: inner),
        AFErrorRow(
            name: "downloadedFileMoveFailed(error:source:destination:)",
            error: .downloadedFileMoveFailed(error: inner, source: file, destination: other),
            trueProperty: "isDownloadedFileMoveError",
            descriptionParts: ["moved", "\(file)", "\(other)", "inner told"], underlying: inner, source: file,
            destination: other),
        AFErrorRow(
            name: "explicitlyCancelled", error: .explicitlyCancelled,
            trueProperty: "isExplicitlyCancelledError", descriptionParts: ["cancelled on purpose"]),
        AFErrorRow(
            name: "invalidURL(url:)", error: .invalidURL(url: "no url"), trueProperty: "isInvalidURLError",
            descriptionParts: ["not a valid URL", "no url"], convertible: "no url"),
        AFErrorRow(
            name: "requestAdaptationFailed(error:)", error: .requestAdaptationFailed(error: inner),
            trueProperty: "isRequestAdaptationError", descriptionParts: ["adapted", "inner told"],
            underlying: inner),
        AFErrorRow(
            name: "requestRetryFailed(retryError:originalError:)",
            error: .requestRetryFailed(retryError: inner, originalError: InnerError(name: "original")),
            trueProperty: "isRequestRetryError",
            descriptionParts: ["retried", "inner told", "original told"],
            underlying: inner),
        AFErrorRow(
            name: "sessionDeinitialized", error: .sessionDeinitialized,
            trueProperty: "isSessionDeinitializedError",
            descriptionParts: ["invalidated without an error", "deallocated", "strong reference"]),
        AFErrorRow(
            name: "sessionInvalidated(error:)", error: .sessionInvalidated(error: inner),
            trueProperty: "isSessionInvalidatedError", descriptionParts: ["invalidated", "inner told"],
            underlying: inner),
        AFErrorRow(
            name: "sessionInvalidated(error:) without one", error: .sessionInvalidated(error: nil),
            trueProperty: "isSessionInvalidatedError", descriptionParts: ["invalidated", "no description"]),
        AFErrorRow(
            name: "sessionTaskFailed(error:)", error: .sessionTaskFailed(error: inner),
            trueProperty: "isSessionTaskError", descriptionParts: ["URLSessionTask", "inner told"],
            underlying: inner),
        AFErrorRow(
            name: "URLRequestValidationFailureReason.bodyDataInGETRequest(_:)",
            error: .urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data("the body".utf8))),
            descriptionParts: ["cannot be sent", "GET", "the body"]),
    ]

    private static func multipart(
        _ name: String, _ reason: AFError.MultipartEncodingFailureReason, _ descriptionPart: String,
        url: URL? = file,
        underlying: InnerError? = nil
    ) -> AFErrorRow {
        AFErrorRow(
            name: "MultipartEncodingFailureReason.\(name)", error: .multipartEncodingFailed(reason: reason),
            trueProperty: "isMultipartEncodingError",
            descriptionParts: [descriptionPart] + (url.map { ["\($0)"] } ?? [])
                + (underlying.map { ["\($0)"] } ?? []),
            underlying: underlying, url: url)
    }

    private static let multipart: [AFErrorRow] = [
        multipart("bodyPartURLInvalid(url:)", .bodyPartURLInvalid(url: file), "not a file URL"),
        multipart("bodyPartFilenameInvalid(in:)", .bodyPartFilenameInvalid(in: file), "file name"),
        multipart("bodyPartFileNotReachable(at:)", .bodyPartFileNotReachable(at: file), "reached"),
        multipart(
            "bodyPartFileNotReachableWithError(atURL:error:)",
            .bodyPartFileNotReachableWithError(atURL: file, error: inner), "reached", underlying: inner),
        multipart("bodyPartFileIsDirectory(at:)", .bodyPartFileIsDirectory(at: file), "directory"),
        multipart("bodyPartFileSizeNotAvailable(at:)", .bodyPartFileSizeNotAvailable(at: file), "size"),
        multipart(
            "bodyPartFileSizeQueryFailedWithError(forURL:error:)",
            .bodyPartFileSizeQueryFailedWithError(forURL: file, error: inner), "size", underlying: inner),
        multipart(
            "bodyPartInputStreamCreationFailed(for:)", .bodyPartInputStreamCreationFailed(for: file), "opened"
        ),
        multipart("outputStreamCreationFailed(for:)", .outputStreamCreationFailed(for: file), "opened"),
        multipart("outputStreamFileAlreadyExists(at:)", .outputStreamFileAlreadyExists(at: file), "already"),
        multipart("outputStreamURLInvalid(url:)", .outputStreamURLInvalid(url: file), "not a file URL"),
        multipart(
            "outputStreamWriteFailed(error:)", .outputStreamWriteFailed(error: inner), "written", url: nil,
            underlying: inner),
        multipart(
            "inputStreamReadFailed(error:)", .inputStreamReadFailed(error: inner), "read", url: nil,
            underlying: inner),
    ]

    private static func encoding(
        _ name: String, _ reason: AFError.ParameterEncodingFailureReason, _ descriptionParts: [String],
        underlying: InnerError? = nil
    ) -> AFErrorRow {
        AFErrorRow(
            name: "ParameterEncodingFailureReason.\(name)", error: .parameterEncodingFailed(reason: reason),
            trueProperty: "isParameterEncodingError", descriptionParts: descriptionParts,
            underlying: underlying)
    }

    private static func encoder(
        _ name: String, _ reason: AFError.ParameterEncoderFailureReason, _ descriptionParts: [String],
        underlying: InnerError? = nil
    ) -> AFErrorRow {
        AFErrorRow(
            name: "ParameterEncoderFailureReason.\(name)", error: .parameterEncoderFailed(reason: reason),
            trueProperty: "isParameterEncoderError", descriptionParts: descriptionParts,
            underlying: underlying)
    }

    private static let parameters: [AFErrorRow] = [
        encoding("missingURL", .missingURL, ["no URL"]),
        encoding(
            "jsonEncodingFailed(error:)", .jsonEncodingFailed(error: inner), ["JSON", "inner told"],
            underlying: inner),
        encoding(
            "customEncodingFailed(error:)", .customEncodingFailed(error: inner), ["custom", "inner told"],
            underlying: inner),
        encoder(
            "missingRequiredComponent(_:)", .missingRequiredComponent(.url), ["lacks", "url"]),
        encoder(
            "RequiredComponent.url", .missingRequiredComponent(.url),
            ["\(AFError.ParameterEncoderFailureReason.RequiredComponent.url)"]),
        encoder(
            "RequiredComponent.httpMethod(rawValue:)",
            .missingRequiredComponent(.httpMethod(rawValue: "odd")), ["httpMethod(rawValue: \"odd\")"]),
        encoder(
            "encoderFailed(error:)", .encoderFailed(error: inner), ["encoded", "inner printed"],
            underlying: inner),
    ]

    private static func refused(
        _ name: String, _ reason: AFError.ResponseValidationFailureReason, _ descriptionParts: [String],
        underlying: InnerError? = nil, acceptable: [String]? = nil, type: String? = nil, code: Int? = nil
    ) -> AFErrorRow {
        AFErrorRow(
            name: "ResponseValidationFailureReason.\(name)", error: .responseValidationFailed(reason: reason),
            trueProperty: "isResponseValidationError", descriptionParts: descriptionParts,
            underlying: underlying,
            acceptable: acceptable, type: type, code: code)
    }

    private static let validation: [AFErrorRow] = [
        refused("dataFileNil", .dataFileNil, ["validated", "no file"]),
        refused(
            "dataFileReadFailed(at:)", .dataFileReadFailed(at: file),
            ["validated", "cannot be read", "\(file)"]),
        refused(
            "missingContentType(acceptableContentTypes:)",
            .missingContentType(acceptableContentTypes: ["a/b", "c/*"]), ["content type", "a/b,c/*", "*/*"],
            acceptable: ["a/b", "c/*"]),
        refused(
            "unacceptableContentType(acceptableContentTypes:responseContentType:)",
            .unacceptableContentType(acceptableContentTypes: ["a/b", "c/*"], responseContentType: "x/y"),
            ["content type", "x/y", "a/b,c/*"], acceptable: ["a/b", "c/*"], type: "x/y"),
        refused(
            "unacceptableStatusCode(code:)", .unacceptableStatusCode(code: 418), ["status code", "418"],
            code: 418),
        refused(
            "customValidationFailed(error:)", .customValidationFailed(error: inner),
            ["custom", "inner told"],
            underlying: inner),
    ]

    private static func unserialized(
        _ name: String, _ reason: AFError.ResponseSerializationFailureReason, _ descriptionParts: [String],
        underlying: InnerError? = nil, encoding: String.Encoding? = nil
    ) -> AFErrorRow {
        AFErrorRow(
            name: "ResponseSerializationFailureReason.\(name)",
            error: .responseSerializationFailed(reason: reason), trueProperty: "isResponseSerializationError",
            descriptionParts: descriptionParts, underlying: underlying, encoding: encoding)
    }

    private static let serialization: [AFErrorRow] = [
        unserialized("inputDataNilOrZeroLength", .inputDataNilOrZeroLength, ["nil", "no bytes"]),
        unserialized("inputFileNil", .inputFileNil, ["no file"]),
        unserialized(
            "inputFileReadFailed(at:)", .inputFileReadFailed(at: file), ["cannot be read", "\(file)"]),
        unserialized(
            "stringSerializationFailed(encoding:)", .stringSerializationFailed(encoding: .utf8),
            ["Unicode (UTF-8)"], encoding: .utf8),
        unserialized(
            "jsonSerializationFailed(error:)", .jsonSerializationFailed(error: inner),
            ["JSON", "inner told"],
            underlying: inner),
        unserialized(
            "decodingFailed(error:)", .decodingFailed(error: inner), ["decoded", "inner told"],
            underlying: inner),
        unserialized(
            "customSerializationFailed(error:)", .customSerializationFailed(error: inner),
            ["custom", "inner told"], underlying: inner),
        unserialized(
            "invalidEmptyResponse(type:)", .invalidEmptyResponse(type: "Coin"), ["Coin", "empty", "Empty"]),
    ]
}
