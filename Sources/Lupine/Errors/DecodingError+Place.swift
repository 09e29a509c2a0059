// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

extension AFError {
    /// What a decoder throws, with the beginning of what it was given.
    static func decoding(_ error: any Error, of data: Data) -> AFError {
        .responseSerializationFailed(
            reason: .decodingFailed(error: (error as? DecodingError)?.showing(data) ?? error))
    }
}

/// Where decoding failed, and what there was.
extension DecodingError {
    /// The error with the beginning of what was decoded in its text, as logs show it: a program that prints its errors sees a page of
    /// HTML where JSON was expected.
    func showing(_ data: Data) -> DecodingError {
        let start = Self.start(of: data)
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

    /// `at flowers[3].colour: Expected to decode String but found number instead.`
    var place: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            let path = Self.text(of: context.codingPath)
            return (path.isEmpty ? "" : "at \(path): ") + context.debugDescription
        @unknown default: return localizedDescription
        }
    }

    private static func text(of path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }

    /// So much is shown.
    private static let shownOctets = 120

    /// The beginning of a content as a line of text, without the values of members whose names are those of secrets.
    private static func start(of data: Data) -> String {
        var text = String(decoding: data.prefix(shownOctets), as: UTF8.self)
        var isCut = data.count > shownOctets
        // Where a secret is an array or an object, nothing behind it is shown.
        let containers = text.matches(of: #/"([^"]*)"\s*:\s*[\[{]/#)
        if let container = containers.first(where: { LogRedaction.isSecret(String($0.1)) }) {
            text = text[..<container.range.lowerBound] + "\"\(container.1)\":\(LogRedaction.mark)"
            isCut = true
        }
        let plain = text.replacing(
            #/"(?<name>[^"]*)"(?<colon>\s*:\s*)(?<value>"(?:[^"\\]|\\.)*"?|[^,}\s"]+)/#
        ) { match in
            LogRedaction.isSecret(String(match.name))
                ? "\"\(match.name)\"\(match.colon)\(LogRedaction.mark)" : match.0
        }
        return LogRedaction.line(plain) + (isCut ? "…" : "")
    }
}
