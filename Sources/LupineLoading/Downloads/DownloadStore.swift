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
        /// Known with the validator.
        var version: DownloadVersion?
        var count = Count(written: 0, expected: -1)
        /// What comes is put behind what was there.
        var rest: ResumeRule.Rest?
        /// The server has no rest for the part that is there.
        var startsOver = false
        var isOver = false

        /// What the rest is not, if it is not what was announced; content that still comes may only be missing.
        func fault(isOver: Bool) -> String? {
            guard let rest,
                count.written > rest.whole.upperBound || isOver && !rest.whole.contains(count.written)
            else { return nil }
            return "the server sent \(count.written - rest.offset) bytes for \(rest.name)"
        }
    }

    /// The request as the program made it.
    private let request: URLRequest
    /// What is gone on with; nil for a download from the start, also where the partial file is gone.
    private let resuming: ResumeData?
    private let folder: URL
    private let state = Lock(State())

    /// A download of what `request` asks for.
    init(_ request: URLRequest, folder: URL) {
        self.request = request
        resuming = nil
        self.folder = folder
    }

    /// Goes on with a download. Where its partial file is gone it starts over, with the request as it was.
    init(resuming data: ResumeData, folder: URL) {
        request = data.requestForAll
        resuming = DownloadFile.holds(data.received, at: data.file) ? data : nil
        self.folder = folder
    }

    /// What is to be sent.
    var requestToSend: URLRequest { resuming?.request ?? request }

    /// Whether content codings may be undone: not where bytes are put behind others (U-9.11).
    var mayDecode: Bool { resuming == nil }

    /// Whether the whole is to be asked for, because `response` has no rest for what is there; true once. What is there stays
    /// until something takes its place.
    func mustStartOver(after response: HTTPURLResponse) -> Bool {
        guard let resuming, case .startOver = ResumeRule.step(after: response, part: resuming) else {
            return false
        }
        return state.withLock { state in
            defer { state.startsOver = true }
            return !state.startsOver
        }
    }

    /// Bytes in the file, and bytes that it will have.
    var count: Count { state.withLock { $0.count } }

    /// What becomes of the content of `response`.
    ///
    /// - Parameter isDecoded: Whether a content coding is undone on the way.
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

    /// So many bytes more are in the file. Returns what is wrong with them, if they cannot belong there.
    @discardableResult
    func wrote(_ bytes: Int) -> String? {
        state.withLock { state in
            state.count.written += Int64(bytes)
            return state.fault(isOver: false)
        }
    }

    /// Puts bytes into the file that did not get there on their own.
    func write(_ data: Data) throws(TransportError) {
        guard let target = state.withLock({ $0.file?.target }) else { return }
        try target.write(Array(data).span)
    }

    /// The download is whole: its file, which is the caller's from here on.
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
        let (file, validator, version, count) = state.withLock { state in
            defer { state.isOver = true }
            // What cannot belong there makes all of it useless.
            let validator = state.fault(isOver: false) == nil ? state.validator : nil
            return (state.file.take(), validator, state.version, state.count)
        }
        guard let file else { return keepsPart ? untouchedPart() : nil }
        guard keepsPart, let validator, count.written > 0, let url = request.url,
            (try? file.target.settle()) != nil,
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

    /// The attempt to go on came to nothing before a response: the part is as good as it was.
    private func untouchedPart() -> Data? {
        let hadResponse = state.withLock { $0.count.expected != -1 || $0.count.written > 0 }
        return hadResponse ? nil : resuming?.data
    }

    /// - Parameter update: Notes what else is known with the file. Under the lock: no response is asked there.
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

    /// The server has another version now, or too little of one: what was there is of no use. After a failure it may be
    /// asked again.
    private func discardPart(after response: HTTPURLResponse) {
        let status = response.statusCode
        guard let resuming, 200...299 ~= status || status == 416 else { return }
        try? FileManager.default.removeItem(atPath: resuming.file)
    }
}

/// Why the file of a finished download cannot be had.
struct DownloadFailure: Error, Hashable, Sendable {
    let code: URLError.Code
    var cause: Errno?
    var reason: String?
}
