// SPDX-License-Identifier: MIT

public import Foundation

/// An error of a recording, with the path of the file or folder.
public enum RecordingError: Error, Hashable, Sendable {
    /// The folder to record into already contains recordings.
    case inUse(path: String)
    /// A file or folder could not be written, for this reason.
    case notWritable(path: String, reason: String)
    /// A file or folder could not be read, for this reason.
    case notReadable(path: String, reason: String)
    /// The folder contains no recordings.
    case empty(path: String)
    /// The folder contains more files than the limit.
    case tooMany(path: String, limit: Int)
    /// A file, or all files together, have more bytes than the limit.
    case tooLarge(path: String, limit: Int)
    /// The file has another version of the format.
    case unsupportedVersion(path: String, version: Int)
    /// The file is not a recording, for this reason.
    case malformed(path: String, reason: String)
}

extension RecordingError: CustomStringConvertible, LocalizedError {
    /// A description of the error.
    public var description: String {
        switch self {
        case .inUse(let path): "\(path) has recordings already: remove them to record anew"
        case .notWritable(let path, let reason): "\(path) cannot be written: \(reason)"
        case .notReadable(let path, let reason): "\(path) cannot be read: \(reason)"
        case .empty(let path): "\(path) holds no recording"
        case .tooMany(let path, let limit): "\(path) holds more than \(limit) recordings"
        case .tooLarge(let path, let limit): "\(path) has more than \(limit) bytes"
        case .unsupportedVersion(let path, let version): "\(path) has version \(version), which is not known"
        case .malformed(let path, let reason): "\(path) is no recording: \(reason)"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
