// SPDX-License-Identifier: MIT

/// How much of a recording is written and read: recordings are input like any other. A value.
public struct RecordingLimits: Sendable, Hashable {
    /// Bytes of one file; a recorder takes bodies of so many bytes.
    public var fileBytes = 16 << 20
    /// Files of one folder.
    public var files = 9_999
    /// Bytes of all files of a folder together.
    public var totalBytes = 256 << 20

    /// 16 MiB a file, 9999 files, 256 MiB together.
    public init() {}
}
