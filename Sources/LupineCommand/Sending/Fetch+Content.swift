// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

// The content of a response: it is printed, saved in a file, or written into the file by the transport.

extension Fetch {
    /// Opens the file that the content is saved to, or creates the presenter that prints it.
    ///
    /// - Parameters:
    ///   - response: The response; nil if the content arrives without one, as from a file URL.
    ///   - state: The state, which is locked.
    func openDestination(for response: HTTPURLResponse?, _ state: inout State) throws {
        guard let destination else {
            state.presenter = BodyPresenter(
                sink: context.output, manner: output.manner, style: output.outputStyle,
                type: response?.contentTypeField)
            return
        }
        let isServerNamed =
            destination == .remoteName && invocation.usesServerFileName && offset == 0
            && response?.value(forHTTPHeaderField: "Content-Disposition") != nil
        let serverName = isServerNamed ? response?.suggestedFilename.map(RemoteName.visibleName) : nil
        // A download resumes the file that `resumption` has checked, whatever name the response suggests.
        let location = SaveLocation(destination, serverName, plan.url, context, in: invocation.outputFolder)
        state.report.shownFileName = location.name
        if invocation.createsFolders { location.makeFolder() }
        if state.saver?.path == location.path, offset == 0 {
            // An earlier attempt has started the file.
            try state.saver?.restart()
        } else {
            // A file whose name the server chooses (`mustBeNew`) never replaces an existing one. `FileSaver` also throws if
            // `files` has reserved the file for another URL.
            let saver = try FileSaver(
                path: location.path, shownName: location.name, offset: offset,
                expectedByteCount: state.remainder?.count, mustBeNew: isServerNamed, in: files, for: urlIndex)
            // An earlier attempt may have saved to another name. Its file is discarded last, and stays if opening fails.
            state.saver?.discard()
            state.saver = saver
        }
        if let response, offset == 0, state.saver?.isRegular == true {
            saveResumeRecord(location.path, response)
        } else if offset > 0, !resumption.knowsVersion, !invocation.isSilent {
            context.errors.say(
                "lupine: nothing says of which version \(location.name) is; what comes is put behind it\n")
        }
        if let row = state.rowNumber {
            // -1 stands for an unknown length, as in `expectedContentLength`.
            let length = response?.expectedContentLength ?? -1
            board?.update(row) {
                $0.offset = offset
                $0.count = 0
                $0.total = length >= 0 && length <= .max - offset ? offset + length : nil
            }
        }
    }

    /// Writes the resume record of a new file. A file that begins with a head cannot be resumed and gets no record.
    private func saveResumeRecord(_ path: String, _ response: HTTPURLResponse) {
        let record = invocation.savesHead ? nil : ResumeRecord(response, decodes: !invocation.keepsEncoding)
        if let record { record.write(for: path) } else { ResumeRecord.remove(path) }
    }

    /// Prints or saves the next bytes of the content. Throws if they cannot be written, or exceed `--max-filesize`.
    func receive(_ data: Data) throws {
        try state.withLock { state in
            // Content from a file or data URL arrives without a head.
            if case .undecided = state.verdict {
                guard offset == 0 else {
                    // Such content always begins at its first byte.
                    let failure = Resumption.rangesUnsupported
                    state.verdict = .refused(failure)
                    throw failure
                }
                state.verdict = .accepted
                try openDestination(for: nil, &state)
            }
            // The rest of a response that is not accepted is dropped.
            guard case .accepted = state.verdict else { return }
            state.report.receivedByteCount += Int64(data.count)
            if let limit = invocation.maximumFileSize, state.report.receivedByteCount > limit {
                let failure = Self.tooLargeFailure(plan.url, limit)
                state.verdict = .refused(failure)
                throw failure
            }
            if state.saver != nil {
                do { try state.saver?.write(data) } catch {
                    state.verdict = .refused(
                        error as? CommandFailure ?? .unwritable(state.report.shownFileName ?? "", error))
                    throw error
                }
                if let row = state.rowNumber { board?.update(row) { $0.count += Int64(data.count) } }
                return
            }
            guard output.parts.contains(.responseBody) else { return }
            do { try state.presenter?.write(data) } catch {
                state.verdict = .refused(Self.outputFailure(error))
                throw error
            }
        }
    }

    /// Returns the failure for an error of a write to the standard output.
    static func outputFailure(_ error: any Error) -> CommandFailure {
        CommandFailure(.write, "Cannot write to the standard output: \(FileErrorReason.reason(error)).")
    }

    // MARK: content that the transport writes into the file

    /// Returns the regular file into which the transport may write the content directly, and records that the transport does so.
    /// Returns nil if `receive` must get the content.
    func directFile() -> FileHandle? {
        let (file, row, stream) = state.withLock {
            state -> (file: FileHandle?, row: Int?, stream: DataStreamRequest?) in
            // Only `receive` notices too many bytes: those beyond `--max-filesize`, and those beyond the missing part of a
            // resumed download. The latter can arrive only if the response has no length (`isFramed` is false). `remainder` is
            // nil unless a download is resumed.
            guard case .accepted = state.verdict, let saver = state.saver, saver.isRegular,
                state.remainder?.isFramed != false, invocation.maximumFileSize == nil
            else { return (nil, nil, nil) }
            state.isSavedDirectly = true
            return (saver.handle, state.rowNumber, state.stream)
        }
        // `receive` does not count these bytes, so the progress board asks the task for their number.
        if file != nil, let row, let task = stream?.task {
            board?.setByteCounter(of: row) { task.countOfBytesReceived }
        }
        return file
    }

    /// Adds the bytes that the transport has written into the file in this attempt, once the attempt is complete.
    func addSavedBytes(_ count: Int64) {
        state.withLock { state in
            guard state.isSavedDirectly else { return }
            state.isSavedDirectly = false
            state.report.receivedByteCount += count
            state.saver?.addWrittenBytes(count)
        }
    }

    // MARK: progress

    /// Shows the progress of the upload, until the response arrives and its download is shown instead.
    func updateUploadProgress(_ count: Int64, of total: Int64) {
        let row = state.withLock { state in
            // The saver and the presenter are nil until a response is accepted.
            let showsUpload = state.saver == nil && state.presenter == nil
            return showsUpload ? state.rowNumber : nil
        }
        guard let row else { return }
        board?.update(row) {
            $0.count = count
            // The total is not positive if the length of the body is unknown.
            $0.total = total > 0 ? total : nil
        }
    }
}

extension HTTPURLResponse {
    /// The value of `Content-Type`, with its parameters.
    fileprivate var contentTypeField: String? { value(forHTTPHeaderField: "Content-Type") }
}
