// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// The upload of a form. The form is encoded once, when it is to be sent, and every attempt uses the result, even an error. It is
/// encoded again only if its file no longer exists, because the request had finished before a late handler had it retried;
/// a form with a stream does not allow that.
///
/// The form is not `Sendable`. Once its owner has handed it over, one thread at a time uses it. No lock is held meanwhile: its
/// streams, its file manager and the overrides of a subclass are the program's code.
final class MultipartUpload: UploadConvertible, @unchecked Sendable {
    /// Thrown when a stream of the form, or its file manager, asks for the encoded form while it is being encoded.
    private struct EncodedWithinItself: Error {}

    private let encodingMemoryThreshold: UInt64
    private let request: any URLRequestConvertible
    /// The folder for forms that are too long for memory; nil uses the temporary directory of the form's file manager.
    private let folder: URL?
    private let turn = ThreadTurn()
    // Used only by the thread that has the turn.
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

    /// Returns the request with the content type of the form. The request is converted first, because a conversion may still add
    /// parts.
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
        // A form may hold secrets, and all users of the machine share this folder. A common subfolder for forms would have a name
        // that another user could create first; the name of the file cannot be predicted, and the file is not accessible to
        // others.
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
