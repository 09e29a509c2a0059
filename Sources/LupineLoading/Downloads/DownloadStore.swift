// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The storage of a download task. It decides for each response where to store the content, counts the written bytes, and decides
/// at the end whether the download can be resumed.
///
/// A part is an incomplete file of a download. The task calls `plan(for:isDecoded:)`, `countWritten`, and at the end either
/// `finish` or `stop`, on any thread, but one at a time.
final class DownloadStore: Sendable {
    /// What the task does with a response's content.
    enum Plan: Sendable {
        /// Write the content to the target. If an existing part is continued, `resumed` has its length and the total length of
        /// the download; -1 for an unknown total.
        case store(FileTarget, resumed: (offset: Int64, total: Int64)?)
        /// The existing file is complete and has this many bytes.
        case complete(Int64)
        /// Fail with this code, because the content cannot be stored. The last value is the system error; nil if there is none.
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
        /// The file that content is written to; nil before the first response and after the end.
        var file: DownloadFile?
        /// The validator with which the download can be resumed; nil if it cannot.
        var validator: ResumeData.Validator?
        /// The version of the resource that is being stored.
        var version: DownloadVersion?
        var count = Count(written: 0, expected: -1)
        /// The bytes that the server has announced to complete the existing part; nil for a new file.
        var remainder: ResumeRule.Remainder?
        /// Whether the whole resource was requested again, because a response could not be appended to the existing part.
        var hasStartedOver = false
        var hasEnded = false

        /// Returns a description of the fault if the number of written bytes contradicts `remainder`; otherwise nil. Missing
        /// bytes are a fault only if the download has ended.
        func fault(hasEnded: Bool) -> String? {
            guard let remainder else { return nil }
            let sizes = remainder.completeSizes
            let isTooShort = hasEnded && count.written < sizes.lowerBound
            let isTooLong = count.written > sizes.upperBound
            guard isTooShort || isTooLong else { return nil }
            return "the server sent \(count.written - remainder.offset) bytes for \(remainder.contentRange)"
        }
    }

    /// The request as the program made it.
    private let request: URLRequest
    /// The description of the existing part; nil for a new download, and if the partial file does not exist.
    private let resumeData: ResumeData?
    private let folder: URL
    private let state = Lock(State())

    /// Creates the store of a new download.
    init(_ request: URLRequest, folder: URL) {
        self.request = request
        resumeData = nil
        self.folder = folder
    }

    /// Creates the store of a resumed download; or of a new one, with the original request, if the partial file does not exist.
    init(resuming data: ResumeData, folder: URL) {
        request = data.originalRequest
        resumeData = DownloadFile.hasBytes(data.received, at: data.file) ? data : nil
        self.folder = folder
    }

    /// The request to send.
    var requestToSend: URLRequest { resumeData?.request ?? request }

    /// Whether content codings may be decoded; false if content is appended to a part (U-9.11).
    var mayDecode: Bool { resumeData == nil }

    /// Returns whether `response` cannot be appended to the existing part, so that the whole resource must be requested. Returns
    /// true only once. The part remains until a new file replaces it.
    func mustStartOver(after response: HTTPURLResponse) -> Bool {
        guard let resumeData, case .startOver = ResumeRule.step(after: response, part: resumeData) else {
            return false
        }
        return state.withLock { state in
            defer { state.hasStartedOver = true }
            return !state.hasStartedOver
        }
    }

    /// The number of written and expected bytes.
    var count: Count { state.withLock { $0.count } }

    /// Returns what to do with the content of `response`. Opens or creates the file for it.
    ///
    /// - Parameters:
    ///   - response: The final response.
    ///   - isDecoded: Whether a content coding is decoded before the content is stored.
    func plan(for response: URLResponse, isDecoded: Bool) -> Plan {
        let http = response as? HTTPURLResponse
        // After starting over, the response is to a request for the whole resource, so it does not continue the part.
        let resumeData = state.withLock { $0.hasStartedOver } ? nil : resumeData
        var step = ResumeRule.Step.store
        if let resumeData, let http { step = ResumeRule.step(after: http, part: resumeData) }
        do throws(Errno) {
            switch (step, resumeData) {
            case (.append(let remainder), let resumeData?):
                let file = try DownloadFile.open(resumeData.file, appendingAt: remainder.offset)
                setFile(file, Count(written: remainder.offset, expected: remainder.total)) { state in
                    state.validator = resumeData.validator
                    state.version = resumeData.version
                    state.remainder = remainder
                }
                return .store(file.target, resumed: (remainder.offset, remainder.total))
            case (.complete, let resumeData?):
                let file = try DownloadFile.open(resumeData.file, appendingAt: resumeData.received)
                setFile(file, Count(written: resumeData.received, expected: resumeData.received))
                return .complete(resumeData.received)
            case (.startOver(let reason), _):
                return .fail(.badServerResponse, reason: reason, nil)
            // The second and third pair do not occur: without resume data, the step is `store`.
            case (.store, _), (.append, nil), (.complete, nil):
                if let http { discardPart(after: http) }
                AbandonedParts.removeOnce(in: folder)
                let file = try DownloadFile.create(in: folder)
                let validator = http.flatMap {
                    ResumeRule.validator(of: $0, to: request, isDecoded: isDecoded)
                }
                let version = http.map(DownloadVersion.init(of:))
                setFile(file, Count(written: 0, expected: response.expectedContentLength)) { state in
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

    /// Counts bytes written to the file. Returns a description of the fault if there are more bytes than the server announced;
    /// otherwise nil.
    @discardableResult
    func countWritten(_ bytes: Int) -> String? {
        state.withLock { state in
            state.count.written += Int64(bytes)
            return state.fault(hasEnded: false)
        }
    }

    /// Writes bytes to the file. Used for content that the kernel cannot move from the socket to the file (splice).
    func write(_ data: Data) throws(TransportError) {
        guard let target = state.withLock({ $0.file?.target }) else { return }
        try target.write(Array(data).span)
    }

    /// Completes the download and returns its file, which the caller then owns.
    func finish() -> Result<DownloadFile, DownloadFailure> {
        let (file, fault) = state.withLock { state in
            state.hasEnded = true
            return (state.file.take(), state.fault(hasEnded: true))
        }
        guard let file else {
            return .failure(DownloadFailure(code: .cannotOpenFile, cause: .noSuchFile))
        }
        if let fault {
            file.remove()
            return .failure(DownloadFailure(code: .badServerResponse, reason: fault))
        }
        // Some file systems report a failed write only now.
        do throws(Errno) { try file.target.confirmStored() } catch {
            file.remove()
            return .failure(DownloadFailure(code: .cannotCloseFile, cause: error))
        }
        return .success(file)
    }

    /// Ends the download before it is complete. Returns resume data and keeps the part, or removes the part and returns nil. Only
    /// the first call has an effect.
    ///
    /// - Parameter keepsPart: Whether a part is to be kept, if that is possible.
    func stop(keepsPart: Bool) -> Data? {
        let (file, validator, version, count) = state.withLock { state in
            defer { state.hasEnded = true }
            // If the server has sent other bytes than announced, the part cannot be resumed.
            let validator = state.fault(hasEnded: false) == nil ? state.validator : nil
            return (state.file.take(), validator, state.version, state.count)
        }
        guard let file else { return keepsPart ? unchangedResumeData() : nil }
        // A part whose bytes may not have been stored is removed, too.
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

    /// Returns the resume data of the existing part, if this attempt to resume the download has ended without a response.
    private func unchangedResumeData() -> Data? {
        // Only a response changes the counts from their initial values.
        let hadResponse = state.withLock { $0.count.expected != -1 || $0.count.written > 0 }
        return hadResponse ? nil : resumeData?.data
    }

    /// Sets the file that content is written to. Removes the file instead if the download has ended already.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - count: The progress at the start.
    ///   - update: Sets other values of the state. Runs under the lock, so it must not call methods of a response, whose class
    ///     may be the program's.
    private func setFile(_ file: DownloadFile, _ count: Count, _ update: (inout State) -> Void = { _ in }) {
        let hasEnded = state.withLock { state -> Bool in
            if state.hasEnded { return true }
            state.file = file
            state.count = count
            update(&state)
            return false
        }
        if hasEnded { file.remove() }
    }

    /// Removes the existing part if the status is 2xx or 416, which mean that the server has another version or a shorter one.
    /// After other statuses the download can still be resumed.
    private func discardPart(after response: HTTPURLResponse) {
        let status = response.statusCode
        guard let resumeData, 200...299 ~= status || status == 416 else { return }
        try? FileManager.default.removeItem(atPath: resumeData.file)
    }
}

/// Why the file of a completed download is not available.
struct DownloadFailure: Error, Hashable, Sendable {
    let code: URLError.Code
    var cause: Errno?
    var reason: String?
}
