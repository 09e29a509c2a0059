// SPDX-License-Identifier: MIT

public import Foundation

/// What is wrong with a recording: the file or folder, and why.
public enum RecordingError: Error, Hashable, Sendable {
    /// A folder to record into has recordings already.
    case inUse(path: String)
    /// A file or folder could not be written; why, in words.
    case notWritable(path: String, reason: String)
    /// A file or folder could not be read; why, in words.
    case notReadable(path: String, reason: String)
    /// A folder holds no recording.
    case empty(path: String)
    /// A folder holds more files than are read.
    case tooMany(path: String, limit: Int)
    /// A file, or all of them together, have more bytes than are read.
    case tooLarge(path: String, limit: Int)
    /// A file was written in another version of the format.
    case unsupportedVersion(path: String, version: Int)
    /// A file is no recording; why, in words.
    case malformed(path: String, reason: String)
}

extension RecordingError: CustomStringConvertible, LocalizedError {
    /// What is wrong, in words.
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
