// SPDX-License-Identifier: MIT

// The pipeline is written against the URL loading system and shows its types everywhere: one import gives both.
@_exported public import LupineLoading

// swift-format-ignore: AlwaysUseLowerCamelCase
/// `Session.default`, under the name by which requests are usually made: `AF.request("https://…")`.
public let AF = Session.default

/// What the library says about itself.
public enum AFInfo {
    /// The version of the library.
    public static let version = DefaultFields.version
}
