// SPDX-License-Identifier: MIT

import Foundation

/// A file that is to become a part of a multipart form. `length()` checks whether it can.
struct MultipartPartFile {
    /// The reason why the file cannot become a part.
    struct Failure: Error {
        let reason: AFError.MultipartEncodingFailureReason
    }

    let url: URL
    let fileManager: FileManager

    /// Returns the file's size in bytes; for a symbolic link, that of its target. Throws if the URL is not that of a file that
    /// can be accessed.
    func length() throws(Failure) -> UInt64 {
        guard url.isFileURL else { throw Failure(reason: .bodyPartURLInvalid(url: url)) }
        try checkReachable()
        try checkIsNotDirectory()
        let attributes: [FileAttributeKey: Any]
        do {
            attributes = try fileManager.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
        } catch {
            throw Failure(reason: .bodyPartFileSizeQueryFailedWithError(forURL: url, error: error))
        }
        guard let size = (attributes[.size] as? NSNumber)?.uint64Value else {
            throw Failure(reason: .bodyPartFileSizeNotAvailable(at: url))
        }
        return size
    }

    /// Throws if the file does not exist or cannot be accessed.
    private func checkReachable() throws(Failure) {
        let isReachable: Bool
        do {
            isReachable = try url.checkResourceIsReachable()
        } catch {
            throw Failure(reason: .bodyPartFileNotReachableWithError(atURL: url, error: error))
        }
        guard isReachable else { throw Failure(reason: .bodyPartFileNotReachable(at: url)) }
    }

    private func checkIsNotDirectory() throws(Failure) {
        var isDirectory: ObjCBool = false
        guard unsafe fileManager.fileExists(atPath: url.path, isDirectory: &isDirectory),
            !isDirectory.boolValue
        else { throw Failure(reason: .bodyPartFileIsDirectory(at: url)) }
    }
}
