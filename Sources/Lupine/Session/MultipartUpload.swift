// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// Uploads a form. The first attempt encodes the form, and every attempt uses the result, even if that is an error.
///
/// An attempt encodes the form again only if the file with the encoded form is missing. This happens if the request had finished
/// and removed the file, and a handler that was added later has caused a retry. A form with a stream cannot be encoded
/// again.
///
/// The form is not `Sendable`. Once the program has passed it to the session, `section` lets one thread at a time use it. No lock
/// is held meanwhile, because the form calls the program's code: its streams, its file manager and the overrides of a subclass.
/// The compiler cannot check this, hence `@unchecked`.
final class MultipartUpload: UploadConvertible, @unchecked Sendable {
    /// Thrown when a stream of the form, or its file manager, calls `createUploadable` during the encoding of the form.
    private struct EncodedWithinItself: Error {}

    private let encodingMemoryThreshold: UInt64
    private let request: any URLRequestConvertible
    /// The folder for forms that are too long for memory; nil uses the temporary directory of the form's file manager.
    private let folder: URL?
    /// Lets one thread at a time use `form` and `result`, in `section.run`.
    private let section = CriticalSection()
    private let form: MultipartFormData
    /// The result of the latest encoding; nil before the first one.
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
        // The content type may be read during the encoding too, so it does not matter whether this call is nested in it.
        let contentType = section.run { _ in form.contentType }
        urlRequest.headers.update(name: "Content-Type", value: contentType)
        return urlRequest
    }

    func createUploadable() throws -> UploadRequest.Uploadable {
        try section.run { isNested in
            if isNested { throw AFError.createUploadableFailed(error: EncodedWithinItself()) }
            assertNoLockIsHeld()
            if isFileMissing(result, form.fileManager) {
                // If the form cannot be encoded again, the error becomes the result.
                result = Result {
                    try form.rewind()
                    return try encode(form)
                }
            }
            let current = result ?? Result { try encode(form) }
            result = current
            return try current.get()
        }
    }

    /// Whether the result is a file that no longer exists.
    private func isFileMissing(
        _ result: Result<UploadRequest.Uploadable, any Error>?, _ fileManager: FileManager
    ) -> Bool {
        guard case .success(.file(let file, shouldRemove: true)) = result else { return false }
        return !fileManager.fileExists(atPath: file.path)
    }

    /// Encodes the form in memory if it is shorter than the threshold, otherwise into a new file that only this user can read.
    private func encode(_ form: MultipartFormData) throws -> UploadRequest.Uploadable {
        if form.contentLength < encodingMemoryThreshold { return .data(try form.encode()) }
        let fileManager = form.fileManager
        let folder = folder ?? fileManager.temporaryDirectory
        try fileManager.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // A form may contain secrets, and all users of the machine may share this folder. Another user could create a subfolder
        // with a known name first. So there is no subfolder, the file has an unpredictable name, and other users cannot access
        // it.
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
