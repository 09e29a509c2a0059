// SPDX-License-Identifier: MIT

import Foundation

/// Compares the public functions that may deliver a body to the program with the tables of the tests that check all limits for
/// each function.
///
/// Each public function of the types that are used for loads has a row in a table, or is listed in `consumers.txt` with the
/// reason why it delivers no body. The comparison fails for a new function until it has one of them.
struct ConsumerRule {
    /// The types whose functions are compared.
    static let types: Set<String> = [
        "AsyncSequence", "DataRequest", "DataStreamRequest", "DataStreamTask", "DownloadRequest",
        "HTTPClient",
        "ResponseBody", "Session", "URLSession", "URLSessionDataTask", "URLSessionDownloadTask",
        "URLSessionStreamTask", "URLSessionUploadTask", "URLSessionWebSocketTask", "UploadRequest",
        "WebSocketRequest", "WebSocketTask",
    ]

    static let listPath = "Tests/ArchitectureTests/consumers.txt"

    /// Returns the public functions of `types`, and the variables of `AsyncSequence`, as `Type.name`.
    static func functions(in file: SourceFile) -> Set<String> {
        var found: Set<String> = []
        // The braces around the current token: the name of the type, or nil for other braces.
        var enclosingTypes: [String?] = []
        // The type whose opening brace has not been read yet.
        var pendingType: String?
        for index in file.tokens.indices {
            switch file.token(index) {
            case "class" where ["func", "var", "subscript"].contains(file.token(index + 1)): continue
            case "class", "struct", "enum", "extension", "protocol", "actor":
                var last = index + 1
                while file.token(last + 1) == "." { last += 2 }
                pendingType = file.token(last)
            case "{":
                enclosingTypes.append(pendingType)
                pendingType = nil
            case "}": _ = enclosingTypes.popLast()
            case "func", "var":
                guard let type = enclosingTypes.last ?? nil, types.contains(type),
                    isPublic(index, in: file)
                else { continue }
                if file.token(index) == "var", type != "AsyncSequence" { continue }
                found.insert("\(type).\(file.token(index + 1))")
            default: continue
            }
        }
        return found
    }

    private static func isPublic(_ index: Int, in file: SourceFile) -> Bool {
        let modifiers: Set<String> = [
            "static", "class", "final", "override", "mutating", "nonisolated", "convenience",
        ]
        var previous = index - 1
        while modifiers.contains(file.token(previous)) { previous -= 1 }
        return ["public", "open"].contains(file.token(previous))
    }

    /// Returns the names of the rows in the text of a table: the first argument of the types that begin with `Limit`, and of
    /// `both`.
    static func rows(in text: String) -> Set<String> {
        var found: Set<String> = []
        for opening in ["LimitConsumer(\"", "LimitSocket(\"", "LimitBody(\"", "both(\""] {
            for part in text.components(separatedBy: opening).dropFirst() {
                found.insert(String(part.prefix { $0 != "\"" }))
            }
        }
        return found
    }

    /// Returns what is missing on either side.
    ///
    /// - Parameters:
    ///   - functions: The functions of the public interface.
    ///   - rows: The names of the rows in the tables.
    ///   - list: Lines of `name | reason`, for functions that deliver no body.
    static func differences(_ functions: Set<String>, rows: Set<String>, list: String) -> [String] {
        var (exempt, found) = (Set<String>(), [String]())
        for line in list.split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.components(separatedBy: " | ")
            if fields.count == 2, !fields[1].isEmpty, exempt.insert(fields[0]).inserted { continue }
            found.append("\(line): a line is `Type.name | reason`, once")
        }
        for name in functions.subtracting(rows).subtracting(exempt) {
            found.append(
                "\(name) has no row in the tables of Hostile/Limit*.swift, and no reason in \(listPath)")
        }
        for name in exempt where !functions.contains(name) || rows.contains(name) {
            found.append("\(name) needs no reason: remove it")
        }
        for name in rows.subtracting(functions) where name != "DataRequest.data" {
            found.append("\(name) is no public function")
        }
        return found.sorted()
    }
}
