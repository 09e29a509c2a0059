// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Lupine

/// Decides where a download resumes (`-C`), what the request asks for, and whether the response fits the partial file.
struct Resumption: Sendable {
    enum Verdict: Hashable {
        /// `count` bytes follow. If they are not framed, excess bytes are noticed only as they arrive.
        case resume(count: Int64, isFramed: Bool)
        case complete
        case refuse(CommandFailure)
    }

    /// The number of bytes that are kept.
    let offset: Int64
    /// The request fields for it.
    let fields: [(name: String, value: String)]
    /// The resume record of the partial file; nil if there is none.
    private let record: ResumeRecord?
    /// Whether the file has bytes after `offset`, which would be overwritten.
    private let hasMore: Bool
    /// Why the file cannot be resumed.
    private(set) var failure: CommandFailure?

    init(
        _ plan: RequestPlan, _ invocation: Invocation, _ context: ProcessContext,
        _ destination: Invocation.Destination?
    ) {
        let path = destination.map {
            SaveLocation($0, nil, plan.url, context, in: invocation.outputFolder).path
        }
        let values = path.flatMap { try? FileManager.default.attributesOfItem(atPath: $0) }
        let size = (values?[.size] as? NSNumber)?.int64Value ?? 0
        switch (invocation.resumption, path) {
        case (nil, _), (_, nil): offset = 0
        case (.offset(let count)?, _): offset = count
        case (.automatic?, _): offset = size
        }
        hasMore = size > offset
        guard offset > 0, let path else {
            (fields, record) = ([], nil)
            return
        }
        record = ResumeRecord.read(for: path)
        // A range of a coded body is not a range of the decoded body.
        var fields = [
            (name: "Range", value: "bytes=\(offset)-"),
            (name: "Accept-Encoding", value: record?.coding ?? "identity"),
        ]
        if let validator = record?.validator { fields.append(("If-Range", validator)) }
        self.fields = fields
        let isDevice = values.map { $0[.type] as? FileAttributeType != .typeRegular } ?? false
        if size < offset, !isDevice {
            failure = Self.failure("there are \(size) bytes here, and \(offset) would have to be", advice: "")
        } else if let coding = record?.coding, !invocation.keepsEncoding {
            failure = Self.failure(
                "what is here is in a coding, \(coding)",
                advice: " Go on with --raw-encoding, which has begun it.")
        }
    }

    /// Whether the version of the partial file is known.
    var knowsVersion: Bool { record?.validator != nil }

    private static func failure(
        _ why: String, advice: String = " Remove the file and begin anew.", code: ExitCode = .resume
    ) -> CommandFailure {
        CommandFailure(
            code, "Cannot go on with the download: \(why). What is here was left as it is.\(advice)")
    }

    /// Evaluates the response to that request. A part is appended only if version, start, end and length match the partial file.
    /// `decodes`: whether content is delivered decoded.
    func verdict(on response: HTTPURLResponse, decodes: Bool) -> Verdict {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ReceivedRange.init)
        switch response.statusCode {
        case 206:
            if let why = otherVersion(response) { return .refuse(Self.failure(why)) }
            return part(range, response, decodes)
        case 416 where range?.total == offset && (record?.total ?? offset) == offset:
            return otherVersion(response, requiresETag: false).map { .refuse(Self.failure($0)) } ?? .complete
        case 416:
            return .refuse(
                Self.failure(
                    "there are \(offset) bytes here, and the server has \(range?.total.map { "\($0)" } ?? "fewer"). It is another file"
                ))
        case 200...299:
            return .refuse(
                Self.failure(
                    otherVersion(response, requiresETag: false)
                        ?? (record?.validator == nil
                            ? "the server has no ranges, or not for this"
                            : "what the server has is another file now")))
        default:
            let code: ExitCode =
                response.statusCode >= 500
                ? .serverError : response.statusCode >= 400 ? .clientError : .resume
            return .refuse(
                Self.failure(
                    "the server answered \(response.statusCode)",
                    advice: response.statusCode < 400 ? " Follow the redirect with -L." : "", code: code))
        }
    }

    /// Returns a message if the response is of another version than the partial file; nil otherwise. With `requiresETag`, a missing
    /// ETag counts as another version: a 206 must have the ETag of the complete resource, but not its date (RFC 9110 §15.3.7).
    private func otherVersion(_ response: HTTPURLResponse, requiresETag: Bool = true) -> String? {
        guard let ours = record?.validator else { return nil }
        let isTag = ours.hasPrefix("\"")
        let theirs = response.value(forHTTPHeaderField: isTag ? "ETag" : "Last-Modified")
        if theirs?.utf8.elementsEqual(ours.utf8) == true || (theirs == nil && !(isTag && requiresETag)) {
            return nil
        }
        let version = theirs ?? "one that it does not name"
        return "what the server has is another file now, of version \(version) and not of \(ours)"
    }

    private func part(_ range: ReceivedRange?, _ response: HTTPURLResponse, _ decodes: Bool) -> Verdict {
        guard let range, range.start == offset, let end = range.end else {
            return .refuse(
                Self.failure("the server sent another part than the one that begins at \(offset)"))
        }
        guard let total = range.total else {
            return .refuse(Self.failure("the server does not say how long the whole is"))
        }
        guard record?.total == nil || record?.total == total else {
            return .refuse(
                Self.failure(
                    "what the server has is another file now, of \(total) bytes and not of \(record?.total ?? 0)"
                ))
        }
        guard end == total - 1 else {
            return .refuse(
                Self.failure("the server sent bytes \(offset) to \(end) of \(total), and not the rest"))
        }
        let coding = ResumeRecord.coding(of: response)
        guard coding == record?.coding || (record == nil && !decodes) else {
            let ours = record?.coding ?? "none"
            return .refuse(
                Self.failure("the server sent a part in the coding \(coding ?? "none"), and \(ours) is here"))
        }
        let count = total - offset
        // With a transfer coding, Content-Length says nothing about the content (RFC 9112 §6.3).
        let isCoded = response.value(forHTTPHeaderField: "Transfer-Encoding") != nil
        guard let length = response.value(forHTTPHeaderField: "Content-Length"), !isCoded else {
            return hasMore
                ? .refuse(Self.failure("the server does not say how long the part is"))
                : .resume(count: count, isFramed: false)
        }
        guard Int64(length) == count else { return .refuse(Self.wrongLength(count)) }
        return .resume(count: count, isFramed: true)
    }

    /// The failure for content that arrives without an HTTP response: it is complete, and of an unknown version.
    static var noParts: CommandFailure { failure("what is no answer of a server comes as a whole") }

    /// Returns the failure for a part that is longer or shorter than its range.
    static func wrongLength(_ count: Int64) -> CommandFailure {
        failure("the server's part is not as long as its range, which has \(count) bytes")
    }
}

/// A `Content-Range` in bytes (RFC 9110 §14.4).
struct ReceivedRange: Hashable {
    /// The first and the last byte; nil if the range is unsatisfiable.
    let start: Int64?
    let end: Int64?
    /// The complete length; nil if unknown.
    let total: Int64?

    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        total = Self.number(halves[1])
        guard total != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard total != nil else { return nil }
            (start, end) = (nil, nil)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last
        else { return nil }
        if let total, last >= total { return nil }
        (start, end) = (first, last)
    }

    /// Accepts digits only: no sign, no space.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}

/// The file of `-D`, readable by its owner only, since a head may have cookies. A file of another user is not written to.
enum HeadFile {
    static func append(_ text: String, to path: String, shown: String) throws {
        do {
            let file = try OpenFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, mode: 0o600)
            if file.isRegular, file.owner != geteuid() { throw POSIXError(.EPERM) }
            try file.handle.write(contentsOf: Data(text.utf8))
            try file.handle.close()
        } catch { throw CommandFailure.unwritable(shown, error) }
    }
}
