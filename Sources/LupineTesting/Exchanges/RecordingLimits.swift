// SPDX-License-Identifier: MIT

/// Limits for writing and reading recordings, which are untrusted input.
public struct RecordingLimits: Sendable, Hashable {
    /// The maximum number of bytes of a file, and of a body that a recorder accepts.
    public var fileBytes = 16 << 20
    /// The maximum number of files in a folder.
    public var files = 9_999
    /// The maximum number of bytes of all files in a folder.
    public var totalBytes = 256 << 20

    /// Creates the default limits: 16 MiB for a file, 9999 files, 256 MiB for all files.
    public init() {}
}
