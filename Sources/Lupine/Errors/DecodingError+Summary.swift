// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

extension AFError {
    /// Wraps an error of a decoder, with the beginning of the data added to its description.
    static func decoding(_ error: any Error, of data: Data) -> AFError {
        let detailedError: any Error = (error as? DecodingError)?.addingPreview(of: data) ?? error
        return .responseSerializationFailed(reason: .decodingFailed(error: detailedError))
    }
}

/// Descriptions of the position and the data at which decoding failed.
extension DecodingError {
    /// Returns the error with the beginning of the data added to its description, redacted as in logs. A program that prints the
    /// error then shows, for example, that the server sent an HTML page instead of JSON.
    func addingPreview(of data: Data) -> DecodingError {
        let preview = ContentPreview(data).text
        func addingPreview(to context: Context) -> Context {
            Context(
                codingPath: context.codingPath,
                debugDescription: context.debugDescription + " The content begins with: " + preview,
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, addingPreview(to: context))
        case .valueNotFound(let type, let context): .valueNotFound(type, addingPreview(to: context))
        case .keyNotFound(let key, let context): .keyNotFound(key, addingPreview(to: context))
        case .dataCorrupted(let context): .dataCorrupted(addingPreview(to: context))
        @unknown default: self
        }
    }

    /// The maximum length of a description in a summary, in Unicode scalars.
    private static let maximumDescriptionLength = 600
    /// The length in bytes after which no more keys are added to a path.
    private static let maximumPathLength = 200
    /// The maximum length of a key in a path, in Unicode scalars.
    private static let maximumKeyLength = 60

    /// The position and the description: `at flowers[3].colour: Expected to decode String but found number instead.`
    var summary: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            let path = Self.text(of: context.codingPath)
            let description = Self.truncated(context.debugDescription, to: Self.maximumDescriptionLength)
            return (path.isEmpty ? "" : "at \(path): ") + description
        @unknown default: return localizedDescription
        }
    }

    /// Returns `text`; if it has more than `maximumLength` bytes, its first `maximumLength` Unicode scalars and `…`. Keys, and
    /// values in descriptions, may come from the peer, so they may have any length.
    private static func truncated(_ text: String, to maximumLength: Int) -> String {
        guard text.utf8.count > maximumLength else { return text }
        return String(text.unicodeScalars.prefix(maximumLength)) + "…"
    }

    /// Returns a path such as `flowers[3].colour`, truncated after about `maximumPathLength` bytes.
    private static func text(of path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if text.utf8.count > maximumPathLength { return text + "…" }
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + truncated(key.stringValue, to: maximumKeyLength)
            }
        }
        return text
    }
}
