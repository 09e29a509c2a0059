// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The storage of a download task: decides for each response what to do with the content, counts written bytes, and decides at
/// the end whether a part can be resumed.
///
/// The task calls `response`, `wrote` and one of `finish` and `stop`, from any thread, but one at a time.
final class DownloadStore: Sendable {
    /// What the task does with a response's content.
    enum Plan: Sendable {
        /// Write the content to the target, after an existing part if there is an offset; the total is -1 if it is unknown.
        case store(FileTarget, resumed: (offset: Int64, total: Int64)?)
        /// The existing file is complete and has this many bytes.
        case complete(Int64)
        /// Fail: the content cannot be stored.
        case fail(URLError.Code, reason: String, Errno?)
    }

    /// The progress of a download.
    struct Count: Hashable, Sendable {
        /// The number of bytes in the file.
        var written: Int64
        /// The expected number of bytes; -1 if it is unknown.
        var expected: Int64
    }

    private struct State: Sendable {
        var file: DownloadFile?
        var validator: ResumeData.Validator?
        /// The version of the resource that is being stored.
        var version: DownloadVersion?
        var count = Count(written: 0, expected: -1)
        /// The announced rest that is appended to the existing part; nil if the content is stored from the start.
        var rest: ResumeRule.Rest?
        /// Whether the whole is requested because the server did not send the rest of the existing part.
        var startsOver = false
        var isOver = false

        /// Describes how the written bytes contradict the announced rest; nil if they do not. Bytes may only be missing while
        /// content is still arriving.
        func fault(isOver: Bool) -> String? {
            guard let rest,
                count.written > rest.whole.upperBound || isOver && !rest.whole.contains(count.written)
            else { return nil }
            return "the server sent \(count.written - rest.offset) bytes for \(rest.name)"
        }
    }

    /// The request as the program made it.
    private let request: URLRequest
    /// The data of the download to resume; nil for a download from the start, also if the partial file no longer exists.
    private let resuming: ResumeData?
    private let folder: URL
    private let state = Lock(State())

    /// Creates the store of a new download.
    init(_ request: URLRequest, folder: URL) {
        self.request = request
        resuming = nil
        self.folder = folder
    }

    /// Resumes a download. If its partial file no longer exists, it starts over with the original request.
    init(resuming data: ResumeData, folder: URL) {
        request = data.requestForAll
        resuming = DownloadFile.holds(data.received, at: data.file) ? data : nil
        self.folder = folder
    }

    /// The request to send.
    var requestToSend: URLRequest { resuming?.request ?? request }

    /// Whether content codings may be decoded: not if content is appended to a part (U-9.11).
    var mayDecode: Bool { resuming == nil }

    /// Whether the whole must be requested because `response` is not the rest of the existing part; returns true only once. The
    /// part is kept until it is replaced.
    func mustStartOver(after response: HTTPURLResponse) -> Bool {
        guard let resuming, case .startOver = ResumeRule.step(after: response, part: resuming) else {
            return false
        }
        return state.withLock { state in
            defer { state.startsOver = true }
            return !state.startsOver
        }
    }

    /// The number of written and expected bytes.
    var count: Count { state.withLock { $0.count } }

    /// Returns what to do with the content of `response`.
    ///
    /// - Parameter isDecoded: Whether a content coding is decoded before the content is stored.
    func response(_ response: URLResponse, isDecoded: Bool) -> Plan {
        let http = response as? HTTPURLResponse
        let resuming = state.withLock { $0.startsOver } ? nil : resuming
        var step = ResumeRule.Step.store
        if let resuming, let http { step = ResumeRule.step(after: http, part: resuming) }
        do throws(Errno) {
            switch (step, resuming) {
            case (.append(let rest), let resuming?):
                let file = try DownloadFile.continuing(resuming.file, at: rest.offset)
                begin(file, Count(written: rest.offset, expected: rest.total)) { state in
                    state.validator = resuming.validator
                    state.version = resuming.version
                    state.rest = rest
                }
                return .store(file.target, resumed: (rest.offset, rest.total))
            case (.complete, let resuming?):
                let file = try DownloadFile.continuing(resuming.file, at: resuming.received)
                begin(file, Count(written: resuming.received, expected: resuming.received))
                return .complete(resuming.received)
            case (.startOver(let reason), _):
                return .fail(.badServerResponse, reason: reason, nil)
            case (.store, _), (.append, nil), (.complete, nil):
                if let http { discardPart(after: http) }
                AbandonedParts.sweep(folder)
                let file = try DownloadFile.new(in: folder)
                let validator = http.flatMap {
                    ResumeRule.validator(of: $0, to: request, isDecoded: isDecoded)
                }
                let version = http.map(DownloadVersion.init(of:))
                begin(file, Count(written: 0, expected: response.expectedContentLength)) { state in
                    state.validator = validator
                    state.version = version
                }
                return .store(file.target, resumed: nil)
            }
        } catch {
            let code: URLError.Code = if case .append = step { .cannotOpenFile } else { .cannotCreateFile }
            return .fail(
                code, reason: "the file for the download could not be opened in \(folder.path)", error)
        }
    }

    /// Counts bytes written to the file. Returns a description of the fault if they contradict the announced rest.
    @discardableResult
    func wrote(_ bytes: Int) -> String? {
        state.withLock { state in
            state.count.written += Int64(bytes)
            return state.fault(isOver: false)
        }
    }

    /// Writes bytes to the file that were not spliced.
    func write(_ data: Data) throws(TransportError) {
        guard let target = state.withLock({ $0.file?.target }) else { return }
        try target.write(Array(data).span)
    }

    /// Completes the download and returns its file, which the caller then owns.
    func finish() -> Result<DownloadFile, DownloadFailure> {
        let (found, fault) = state.withLock { state in
            state.isOver = true
            return (state.file.take(), state.fault(isOver: true))
        }
        guard let found else {
            return .failure(DownloadFailure(code: .cannotOpenFile, cause: .noSuchFile))
        }
        if let fault {
            found.remove()
            return .failure(DownloadFailure(code: .badServerResponse, reason: fault))
        }
        do throws(Errno) { try found.target.confirmStored() } catch {
            found.remove()
            return .failure(DownloadFailure(code: .cannotCloseFile, cause: error))
        }
        return .success(found)
    }

    /// Ends the download before it is complete. Returns resume data and keeps the part, or removes the part and returns nil. Only
    /// the first call has an effect.
    ///
    /// - Parameter keepsPart: Whether a part is to be kept, if that is possible.
    func stop(keepsPart: Bool) -> Data? {
        let (file, validator, version, count) = state.withLock { state in
            defer { state.isOver = true }
            // Wrong bytes make the whole part useless.
            let validator = state.fault(isOver: false) == nil ? state.validator : nil
            return (state.file.take(), validator, state.version, state.count)
        }
        guard let file else { return keepsPart ? untouchedPart() : nil }
        guard keepsPart, let validator, count.written > 0, let url = request.url,
            (try? file.target.confirmStored()) != nil,
            let data = ResumeData(
                url: url, fields: request.headerList.fields, validator: validator, received: count.written,
                file: file.path, version: version, cookiesAsIn: request
            ).data
        else {
            file.remove()
            return nil
        }
        return data
    }

    /// Returns the resume data unchanged if the attempt to resume ended before a response.
    private func untouchedPart() -> Data? {
        let hadResponse = state.withLock { $0.count.expected != -1 || $0.count.written > 0 }
        return hadResponse ? nil : resuming?.data
    }

    /// - Parameter update: Sets other values together with the file. Runs under the lock, so it must not call a response, which
    ///   may be the program's.
    private func begin(_ file: DownloadFile, _ count: Count, _ update: (inout State) -> Void = { _ in }) {
        let late = state.withLock { state -> Bool in
            if state.isOver { return true }
            state.file = file
            state.count = count
            update(&state)
            return false
        }
        if late { file.remove() }
    }

    /// Removes the old part after a success or a 416: the server has another version, or a shorter one. After other statuses the
    /// part may be requested again.
    private func discardPart(after response: HTTPURLResponse) {
        let status = response.statusCode
        guard let resuming, 200...299 ~= status || status == 416 else { return }
        try? FileManager.default.removeItem(atPath: resuming.file)
    }
}

/// Why the file of a completed download is not available.
struct DownloadFailure: Error, Hashable, Sendable {
    let code: URLError.Code
    var cause: Errno?
    var reason: String?
}
