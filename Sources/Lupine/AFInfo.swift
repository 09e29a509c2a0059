// SPDX-License-Identifier: MIT

// The public API uses the types of the URL loading system everywhere, so importing this module also imports those types.
@_exported public import LupineLoading

/// Information about the library.
public enum AFInfo {
    /// The version of the library.
    public static let version = DefaultFields.version
}
