// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

extension AFError {
    /// Wraps an error of a decoder, with the beginning of the data added to its description.
    static func decoding(_ error: any Error, of data: Data) -> AFError {
        .responseSerializationFailed(
            reason: .decodingFailed(error: (error as? DecodingError)?.showing(data) ?? error))
    }
}

/// Descriptions of the position and the data at which decoding failed.
extension DecodingError {
    /// Returns the error with the beginning of the data, redacted as in logs, added to its description: a program that
    /// prints the error then shows, for example, that the server sent an HTML page instead of JSON.
    func showing(_ data: Data) -> DecodingError {
        let start = ContentPreview(data).text
        func shown(_ context: Context) -> Context {
            Context(
                codingPath: context.codingPath,
                debugDescription: context.debugDescription + " The content begins with: " + start,
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, shown(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, shown(context))
        case .keyNotFound(let key, let context): .keyNotFound(key, shown(context))
        case .dataCorrupted(let context): .dataCorrupted(shown(context))
        @unknown default: self
        }
    }

    /// The position and the description: `at flowers[3].colour: Expected to decode String but found number instead.`
    var place: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            let path = Self.text(of: context.codingPath)
            let description = Self.beginning(of: context.debugDescription, 600)
            return (path.isEmpty ? "" : "at \(path): ") + description
        @unknown default: return localizedDescription
        }
    }

    /// Returns the beginning of `text`. Keys, and values in descriptions, may come from the peer and be of any length.
    private static func beginning(of text: String, _ most: Int) -> String {
        guard text.utf8.count > most else { return text }
        return String(text.unicodeScalars.prefix(most)) + "…"
    }

    private static func text(of path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if text.utf8.count > 200 { return text + "…" }
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + beginning(of: key.stringValue, 60)
            }
        }
        return text
    }
}
