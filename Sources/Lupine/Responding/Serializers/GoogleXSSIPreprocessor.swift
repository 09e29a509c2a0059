// SPDX-License-Identifier: MIT

public import Foundation

/// Removes the prefix `)]}',` and a line feed, which some services put before their JSON so that no page can include it as a
/// script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    /// Creates a preprocessor.
    public init() {}

    /// Returns `data` without the prefix and the line feed, or unchanged if it does not start with them.
    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
    }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// A preprocessor that removes the prefix `)]}',` and the line feed.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
