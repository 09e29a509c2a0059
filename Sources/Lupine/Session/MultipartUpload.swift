// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// The upload of a form: it is encoded when it is to be sent, once, and the result, be it an error, serves every attempt.
/// Only when its file is gone, because the request had come to its end before a late handler had it retried, is the
/// form encoded again, which a stream in it does not allow.
///
/// The form is not `Sendable`; once its owner has handed it over, one thread at a time has it. No lock is held meanwhile: its
/// streams, its file manager and what a subclass overrides are the program's.
final class MultipartUpload: UploadConvertible, @unchecked Sendable {
    /// A stream of the form, or its file manager, wants the form encoded while it is being encoded.
    private struct EncodedWithinItself: Error {}

    private let encodingMemoryThreshold: UInt64
    private let request: any URLRequestConvertible
    /// Where forms that are too long for memory are written; nil for the place that the form's file manager has.
    private let folder: URL?
    private let turn = ThreadTurn()
    // Whoever has the turn uses them.
    private let form: MultipartFormData
    private var result: Result<UploadRequest.Uploadable, any Error>?

    init(
        encodingMemoryThreshold: UInt64, request: any URLRequestConvertible, form: MultipartFormData,
        folder: URL?
    ) {
        self.encodingMemoryThreshold = encodingMemoryThreshold
        self.request = request
        self.folder = folder
        self.form = form
    }

    /// The request, announced as a form. It is converted first: a conversion may still add parts.
    func asURLRequest() throws -> URLRequest {
        assertNoLockIsHeld()
        var urlRequest = try request.asURLRequest()
        let contentType = turn.run { _ in form.contentType }
        urlRequest.headers.update(name: "Content-Type", value: contentType)
        return urlRequest
    }

    func createUploadable() throws -> UploadRequest.Uploadable {
        try turn.run { isNested in
            if isNested { throw AFError.createUploadableFailed(error: EncodedWithinItself()) }
            assertNoLockIsHeld()
            if isGone(result, form.fileManager) {
                result = Result {
                    try form.rewind()
                    return try encoded(form)
                }
            }
            let known = result ?? Result { try encoded(form) }
            result = known
            return try known.get()
        }
    }

    private func isGone(
        _ result: Result<UploadRequest.Uploadable, any Error>?, _ fileManager: FileManager
    ) -> Bool {
        guard case .success(.file(let file, shouldRemove: true)) = result else { return false }
        return !fileManager.fileExists(atPath: file.path)
    }

    private func encoded(_ form: MultipartFormData) throws -> UploadRequest.Uploadable {
        if form.contentLength < encodingMemoryThreshold { return .data(try form.encode()) }
        let fileManager = form.fileManager
        let folder = folder ?? fileManager.temporaryDirectory
        try fileManager.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // A form may hold secrets, and the users of a machine share this place. A folder for all forms would have a name that
        // somebody else can make first; the name of the file nobody knows before, and the file is closed to others.
        let file = folder.appendingPathComponent("LupineForm-\(UUID().uuidString).tmp")
        do {
            try form.writePrivately(to: file)
        } catch {
            try? fileManager.removeItem(at: file)
            throw error
        }
        return .file(file, shouldRemove: true)
    }
}
