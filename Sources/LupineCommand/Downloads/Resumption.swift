// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Lupine

/// Decides at which offset a download resumes (`-C`), which fields its request has, and whether the response matches the partial
/// file.
struct Resumption: Sendable {
    /// The decision about the response.
    enum Verdict: Hashable {
        /// `count` bytes follow. Unless the message framing limits the content to this number (`isFramed`), excess bytes are
        /// noticed only when they arrive.
        case resume(count: Int64, isFramed: Bool)
        /// The file is already complete.
        case complete
        /// The response does not match the file.
        case refuse(CommandFailure)
    }

    /// The number of bytes that the file keeps; 0 if the download does not resume.
    let offset: Int64
    /// The header fields of the request that resumes the download.
    let fields: [(name: String, value: String)]
    /// The resume record of the partial file; nil if there is none.
    private let record: ResumeRecord?
    /// Whether the file has bytes after `offset`. They are lost when `FileSaver` opens the file to resume it.
    private let hasBytesAfterOffset: Bool
    /// The reason why no request is sent; nil if the file can be resumed or the download does not resume.
    private(set) var failure: CommandFailure?

    init(
        _ plan: RequestPlan, _ invocation: Invocation, _ context: ProcessContext,
        _ destination: Invocation.Destination?
    ) {
        // nil: the server has suggested no name. A download resumes only a file that the user or the URL has named.
        let path = destination.map {
            SaveLocation($0, nil, plan.url, context, in: invocation.outputFolder).path
        }
        let attributes = path.flatMap { try? FileManager.default.attributesOfItem(atPath: $0) }
        let size = (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        switch (invocation.resumption, path) {
        case (nil, _), (_, nil): offset = 0
        case (.offset(let count)?, _): offset = count
        case (.automatic?, _): offset = size
        }
        hasBytesAfterOffset = size > offset
        guard offset > 0, let path else {
            (fields, record) = ([], nil)
            return
        }
        record = ResumeRecord.read(for: path)
        // A range counts the bytes of the coded body, so the coding must be that of the partial file.
        var fields = [
            (name: "Range", value: "bytes=\(offset)-"),
            (name: "Accept-Encoding", value: record?.coding ?? "identity"),
        ]
        if let validator = record?.validator { fields.append(("If-Range", validator)) }
        self.fields = fields
        // A file that does not exist is no device.
        let isDevice = attributes.map { $0[.type] as? FileAttributeType != .typeRegular } ?? false
        if size < offset, !isDevice {
            failure = Self.failure("there are \(size) bytes here, and \(offset) would have to be", advice: "")
        } else if let coding = record?.coding, !invocation.keepsEncoding {
            failure = Self.failure(
                "what is here is in a coding, \(coding)",
                advice: " Go on with --raw-encoding, which has begun it.")
        }
    }

    /// Whether the resume record says which version of the resource the partial file has.
    var knowsVersion: Bool { record?.validator != nil }

    /// Returns a failure that says for which reason the download cannot be resumed, and that the file was not changed.
    private static func failure(
        _ reason: String, advice: String = " Remove the file and begin anew.", code: ExitCode = .resume
    ) -> CommandFailure {
        CommandFailure(
            code, "Cannot go on with the download: \(reason). What is here was left as it is.\(advice)")
    }

    /// Evaluates the response to the request. A part is appended only if its version, start, end and length match the partial
    /// file.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decodes: Whether the library decodes the content.
    func verdict(on response: HTTPURLResponse, decodes: Bool) -> Verdict {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ReceivedRange.init)
        switch response.statusCode {
        case 206:
            if let mismatch = versionMismatch(response) { return .refuse(Self.failure(mismatch)) }
            return verdict(onPart: range, response, decodes)
        case 416 where range?.total == offset && (record?.total ?? offset) == offset:
            // No bytes follow: the partial file is as long as the resource, and as the total in the record, if known. Only a 206
            // must have the ETag, so `requiresETag` is false here and below.
            if let mismatch = versionMismatch(response, requiresETag: false) {
                return .refuse(Self.failure(mismatch))
            }
            return .complete
        case 416:
            return .refuse(
                Self.failure(
                    "there are \(offset) bytes here, and the server has \(range?.total.map { "\($0)" } ?? "fewer"). It is another file"
                ))
        case 200...299:
            // The server sends the complete content: it has no ranges, or its version does not match `If-Range`.
            if let mismatch = versionMismatch(response, requiresETag: false) {
                return .refuse(Self.failure(mismatch))
            }
            return .refuse(
                Self.failure(
                    knowsVersion
                        ? "what the server has is another file now"
                        : "the server has no ranges, or not for this"))
        default:
            let code: ExitCode
            switch response.statusCode {
            case 500...: code = .serverError
            case 400...: code = .clientError
            default: code = .resume
            }
            return .refuse(
                Self.failure(
                    "the server answered \(response.statusCode)",
                    advice: response.statusCode < 400 ? " Follow the redirect with -L." : "", code: code))
        }
    }

    /// Returns a message if the response is of another version than the partial file; nil otherwise. With `requiresETag`, a
    /// missing ETag counts as another version: a 206 must have the ETag of the complete resource, but need not have its
    /// `Last-Modified` (RFC 9110 §15.3.7).
    private func versionMismatch(_ response: HTTPURLResponse, requiresETag: Bool = true) -> String? {
        guard let recorded = record?.validator else { return nil }
        let isETag = recorded.hasPrefix("\"")
        let received = response.value(forHTTPHeaderField: isETag ? "ETag" : "Last-Modified")
        if let received {
            if received.utf8.elementsEqual(recorded.utf8) { return nil }
        } else if !isETag || !requiresETag {
            return nil
        }
        let version = received ?? "one that it does not name"
        return "what the server has is another file now, of version \(version) and not of \(recorded)"
    }

    /// Evaluates a 206 (Partial Content), whose version matches.
    private func verdict(
        onPart range: ReceivedRange?, _ response: HTTPURLResponse, _ decodes: Bool
    ) -> Verdict {
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
        // Without a record, the coding of the partial file is unknown. With `--raw-encoding`, the part is then appended as it is.
        guard coding == record?.coding || (record == nil && !decodes) else {
            let recorded = record?.coding ?? "none"
            return .refuse(
                Self.failure(
                    "the server sent a part in the coding \(coding ?? "none"), and \(recorded) is here"))
        }
        let count = total - offset
        // A transfer coding overrides Content-Length (RFC 9112 §6.3).
        let hasTransferCoding = response.value(forHTTPHeaderField: "Transfer-Encoding") != nil
        guard let length = response.value(forHTTPHeaderField: "Content-Length"), !hasTransferCoding else {
            // Bytes after the offset are given up only for a part of known length.
            return hasBytesAfterOffset
                ? .refuse(Self.failure("the server does not say how long the part is"))
                : .resume(count: count, isFramed: false)
        }
        guard Int64(length) == count else { return .refuse(Self.lengthMismatch(count)) }
        return .resume(count: count, isFramed: true)
    }

    /// The failure for content that arrives without an HTTP response, as from a file URL. Such content always begins at its first
    /// byte, and its version is unknown.
    static var rangesUnsupported: CommandFailure { failure("what is no answer of a server comes as a whole") }

    /// Returns the failure for a part that is longer or shorter than its range.
    static func lengthMismatch(_ count: Int64) -> CommandFailure {
        failure("the server's part is not as long as its range, which has \(count) bytes")
    }
}

/// A `Content-Range` in bytes (RFC 9110 §14.4).
struct ReceivedRange: Hashable {
    /// The position of the first byte; nil if the range is unsatisfiable.
    let start: Int64?
    /// The position of the last byte; nil if the range is unsatisfiable.
    let end: Int64?
    /// The complete length; nil if unknown.
    let total: Int64?

    init?(_ text: String) {
        // The value has the form `bytes FIRST-LAST/TOTAL`, `bytes FIRST-LAST/*` or `bytes */TOTAL`.
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
        let bounds = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]),
            first <= last
        else { return nil }
        if let total, last >= total { return nil }
        (start, end) = (first, last)
    }

    /// Parses a number; nil if it has a sign, a space or another character that is not a digit.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}

/// Writes the file of `-D`, the heads of the responses. Only its owner may read it, since a head may have cookies. A file of
/// another user is not written to.
enum HeadFile {
    /// Appends text to the file; `shownName` is its name in errors.
    static func append(_ text: String, to path: String, shownName: String) throws {
        do {
            let file = try OpenFile(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, mode: 0o600)
            if file.isRegular, file.owner != geteuid() { throw POSIXError(.EPERM) }
            try file.handle.write(contentsOf: Data(text.utf8))
            try file.handle.close()
        } catch { throw CommandFailure.unwritable(shownName, error) }
    }
}
