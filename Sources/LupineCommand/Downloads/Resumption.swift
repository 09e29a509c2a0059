// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Where a download goes on (`-C`), what the server is asked, and whether its answer fits.
struct Resumption: Sendable {
    enum Verdict: Hashable {
        case goOn, complete
        case refuse(CommandFailure)
    }

    /// Bytes that are there.
    let offset: Int64
    /// What the request is given for it.
    let fields: [(name: String, value: String)]

    init(
        _ plan: RequestPlan, _ invocation: Invocation, _ surroundings: Surroundings,
        _ destination: Invocation.Destination?
    ) {
        let name: String? =
            switch destination {
            case .file(let name): name
            case .remoteName: RemoteName.of(plan.url)
            case nil: nil
            }
        guard let resumption = invocation.resumption, let name else {
            offset = 0
            fields = []
            return
        }
        let path = surroundings.path(name)
        switch resumption {
        case .offset(let count): offset = count
        case .automatic:
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
            offset = size?.int64Value ?? 0
        }
        guard offset > 0 else {
            fields = []
            return
        }
        // A part of a coded body is no part of the body.
        var fields = [
            (name: "Range", value: "bytes=\(offset)-"), (name: "Accept-Encoding", value: "identity"),
        ]
        if let validator = PartialMark.validator(of: path) { fields.append(("If-Range", validator)) }
        self.fields = fields
    }

    /// What an answer to that request means.
    static func verdict(on response: HTTPURLResponse, offset: Int64, validator: String?) -> Verdict {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ReceivedRange.init)
        switch response.statusCode {
        case 206:
            if range?.start == offset { return .goOn }
            return .refuse(
                CommandFailure(
                    .resume,
                    "Cannot go on with the download: the server sent another part than the one that begins at \(offset). Remove the file and begin anew."
                ))
        case 416 where range?.total == offset: return .complete
        case 416:
            return .refuse(
                CommandFailure(
                    .resume,
                    "Cannot go on with the download: there are \(offset) bytes here, and the server has \(range?.total.map { "\($0)" } ?? "fewer"). It is another file; remove it and begin anew."
                ))
        case 200...299:
            let why =
                validator == nil
                ? "the server has no ranges, or not for this" : "what the server has is another file now"
            return .refuse(
                CommandFailure(
                    .resume, "Cannot go on with the download: \(why). Remove the file and begin anew."))
        default:
            let code: ExitCode =
                response.statusCode >= 500
                ? .serverError : response.statusCode >= 400 ? .clientError : .resume
            let hint = response.statusCode < 400 ? " Follow the redirect with -L." : ""
            return .refuse(
                CommandFailure(
                    code,
                    "Cannot go on with the download: the server answered \(response.statusCode). What is here was not touched.\(hint)"
                ))
        }
    }
}

/// A `Content-Range` in bytes (RFC 9110 §14.4).
struct ReceivedRange: Hashable {
    let start: Int64?
    let total: Int64?

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        total = Int64(halves[1])
        start = halves[0].split(separator: "-").first.flatMap { Int64($0) }
    }
}

/// The name that -O gives: the last part of the path, made safe.
enum RemoteName {
    /// A name that a server gave, without the dots that would hide the file.
    static func unhidden(_ name: String) -> String {
        let shown = name.drop(while: { $0 == "." })
        return shown.isEmpty ? "download" : String(shown)
    }

    static func of(_ url: URL) -> String {
        let name = url.lastPathComponent.filter { $0 != "/" && $0 != "\0" && !$0.isNewline }
        return name.isEmpty || name == "." || name == ".." ? "index.html" : String(name.prefix(200))
    }
}

/// The file of `-D`.
enum HeadFile {
    static func append(_ text: String, to path: String, shown: String) throws {
        do {
            if !FileManager.default.fileExists(atPath: path) {
                guard FileManager.default.createFile(atPath: path, contents: nil) else {
                    throw CommandFailure.unwritable(shown, nil)
                }
            }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure.unwritable(shown, error) }
    }
}
