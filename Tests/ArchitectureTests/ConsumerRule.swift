// SPDX-License-Identifier: MIT

import Foundation

/// Compares the public functions that may deliver a body to the program with the tables of the tests that check every limit with
/// each of them.
///
/// Each public function of the types that are used for loads has a row in a table, or is in a list with the reason why it
/// delivers no body. So a new one needs a decision.
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

    /// Returns the public functions of these types, and the variables of extensions of protocols, as `Type.name`.
    static func functions(in file: SourceFile) -> Set<String> {
        var found: Set<String> = []
        var open: [String?] = []
        var next: String?
        for index in file.tokens.indices {
            switch file.token(index) {
            case "class" where ["func", "var", "subscript"].contains(file.token(index + 1)): continue
            case "class", "struct", "enum", "extension", "protocol", "actor":
                var last = index + 1
                while file.token(last + 1) == "." { last += 2 }
                next = file.token(last)
            case "{":
                open.append(next)
                next = nil
            case "}": _ = open.popLast()
            case "func", "var":
                guard let type = open.last ?? nil, types.contains(type), isPublic(index, in: file) else {
                    continue
                }
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
        var before = index - 1
        while modifiers.contains(file.token(before)) { before -= 1 }
        return ["public", "open"].contains(file.token(before))
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
        var (excused, found) = (Set<String>(), [String]())
        for line in list.split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.components(separatedBy: " | ")
            if fields.count == 2, !fields[1].isEmpty, excused.insert(fields[0]).inserted { continue }
            found.append("\(line): a line is `Type.name | reason`, once")
        }
        for name in functions.subtracting(rows).subtracting(excused) {
            found.append(
                "\(name) has no row in the tables of Hostile/Limit*.swift, and no reason in \(listPath)")
        }
        for name in excused where !functions.contains(name) || rows.contains(name) {
            found.append("\(name) needs no reason: remove it")
        }
        for name in rows.subtracting(functions) where name != "DataRequest.data" {
            found.append("\(name) is no public function")
        }
        return found.sorted()
    }
}
