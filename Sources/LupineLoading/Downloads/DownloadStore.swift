// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What a download task stores and where it stands: decides with each response what becomes of the content, counts what
/// was written, and says at the end whether a part can be gone on with.
///
/// The task calls `response`, `wrote` and one of `finish` and `stop`; calls do not overlap, any thread.
final class DownloadStore: Sendable {
    /// What the task does with a response.
    enum Plan: Sendable {
        /// Content goes there. With an offset it goes behind what was there before; the total is -1 where nobody knows.
        case store(FileTarget, resumed: (offset: Int64, total: Int64)?)
        /// The file was whole already, and has so many bytes.
        case complete(Int64)
        /// It cannot be stored.
        case fail(URLError.Code, reason: String, Errno?)
    }

    /// How far a download has come.
    struct Count: Hashable, Sendable {
        /// Bytes in the file.
        var written: Int64
        /// Bytes that it will have; -1 where nobody knows.
        var expected: Int64
    }

    private struct State: Sendable {
        var file: DownloadFile?
        var validator: ResumeData.Validator?
        var count = Count(written: 0, expected: -1)
        var isOver = false
    }

    /// The request as the program made it.
    private let request: URLRequest
    /// What is gone on with; nil for a download from the start, also where the partial file is gone.
    private let resuming: ResumeData?
    private let folder: URL
    private let state = Lock(State())

    /// A download of what `request` asks for.
    init(_ request: URLRequest, folder: URL = FileManager.default.temporaryDirectory) {
        self.request = request
        resuming = nil
        self.folder = folder
    }

    /// Goes on with a download. Where its partial file is gone it starts over, with the request as it was.
    init(resuming data: ResumeData, folder: URL = FileManager.default.temporaryDirectory) {
        var request = URLRequest(url: data.url)
        request.headerList = HeaderList(data.fields)
        self.request = request
        resuming = DownloadFile.holds(data.received, at: data.file) ? data : nil
        self.folder = folder
    }

    /// What is to be sent.
    var requestToSend: URLRequest { resuming?.request ?? request }

    /// Whether content codings may be undone: not where bytes are put behind others (U-9.11).
    var mayDecode: Bool { resuming == nil }

    /// Bytes in the file, and bytes that it will have.
    var count: Count { state.withLock { $0.count } }

    /// What becomes of the content of `response`.
    ///
    /// - Parameter isDecoded: Whether a content coding is undone on the way.
    func response(_ response: URLResponse, isDecoded: Bool) -> Plan {
        let http = response as? HTTPURLResponse
        var step = ResumeRule.Step.store
        if let resuming, let http { step = ResumeRule.step(after: http, offset: resuming.received) }
        do throws(Errno) {
            switch (step, resuming) {
            case (.append(let offset, let total), let resuming?):
                let file = try DownloadFile.continuing(resuming.file, at: offset)
                begin(
                    file, http, isDecoded, Count(written: offset, expected: total),
                    fallback: resuming.validator)
                return .store(file.target, resumed: (offset, total))
            case (.complete, let resuming?):
                let file = try DownloadFile.continuing(resuming.file, at: resuming.received)
                begin(file, nil, isDecoded, Count(written: resuming.received, expected: resuming.received))
                return .complete(resuming.received)
            case (.refuse(let reason), _):
                return .fail(.badServerResponse, reason: reason, nil)
            case (.store, _), (.append, nil), (.complete, nil):
                if let http { discardPart(after: http) }
                let file = try DownloadFile.new(in: folder)
                begin(file, http, isDecoded, Count(written: 0, expected: response.expectedContentLength))
                return .store(file.target, resumed: nil)
            }
        } catch {
            let code: URLError.Code = if case .append = step { .cannotOpenFile } else { .cannotCreateFile }
            return .fail(
                code, reason: "the file for the download could not be opened in \(folder.path)", error)
        }
    }

    /// So many bytes more are in the file.
    func wrote(_ bytes: Int) { state.withLock { $0.count.written += Int64(bytes) } }

    /// Puts bytes into the file that did not get there on their own.
    func write(_ data: Data) throws(TransportError) {
        guard let target = state.withLock({ $0.file?.target }) else { return }
        try target.write(Array(data).span)
    }

    /// The download is whole: its file, which is the caller's from here on.
    func finish() -> Result<DownloadFile, DownloadFailure> {
        let found = state.withLock { state -> DownloadFile? in
            state.isOver = true
            return state.file.take()
        }
        guard let found else {
            return .failure(DownloadFailure(code: .cannotOpenFile, cause: .noSuchFile))
        }
        do throws(Errno) { try found.target.settle() } catch {
            found.remove()
            return .failure(DownloadFailure(code: .cannotCloseFile, cause: error))
        }
        return .success(found)
    }

    /// The download ends before it is whole. What comes back lets it be gone on with, and keeps the part; nil where that
    /// is impossible, and the part is gone. The first call counts.
    ///
    /// - Parameter keepsPart: Whether a part is wanted at all.
    func stop(keepsPart: Bool) -> Data? {
        let (file, validator, count) = state.withLock { state in
            defer { state.isOver = true }
            return (state.file.take(), state.validator, state.count)
        }
        guard let file else { return keepsPart ? untouchedPart() : nil }
        guard keepsPart, let validator, count.written > 0, let url = request.url,
            (try? file.target.settle()) != nil,
            let data = ResumeData(
                url: url, fields: request.headerList.fields, validator: validator, received: count.written,
                file: file.path
            ).data
        else {
            file.remove()
            return nil
        }
        return data
    }

    /// The attempt to go on came to nothing before a response: the part is as good as it was.
    private func untouchedPart() -> Data? {
        let hadResponse = state.withLock { $0.count.expected != -1 || $0.count.written > 0 }
        return hadResponse ? nil : resuming?.data
    }

    /// - Parameter fallback: The version that the server has confirmed, should it not say it again.
    private func begin(
        _ file: DownloadFile, _ response: HTTPURLResponse?, _ isDecoded: Bool, _ count: Count,
        fallback: ResumeData.Validator? = nil
    ) {
        let validator =
            response.flatMap { ResumeRule.validator(of: $0, to: request, isDecoded: isDecoded) } ?? fallback
        let late = state.withLock { state -> Bool in
            if state.isOver { return true }
            state.file = file
            state.validator = validator
            state.count = count
            return false
        }
        if late { file.remove() }
    }

    /// The server has another version now, or too little of one: what was there is of no use. After any other answer it
    /// may be asked again.
    private func discardPart(after response: HTTPURLResponse) {
        guard let resuming, [200, 416].contains(response.statusCode) else { return }
        try? FileManager.default.removeItem(atPath: resuming.file)
    }
}

/// Why the file of a finished download cannot be had.
struct DownloadFailure: Error, Hashable, Sendable {
    let code: URLError.Code
    let cause: Errno
}
