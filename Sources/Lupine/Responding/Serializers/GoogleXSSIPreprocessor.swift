// SPDX-License-Identifier: MIT

public import Foundation

/// Removes the prefix `)]}',` and the line feed that some services put before their JSON to prevent its inclusion as a
/// script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    /// Creates a preprocessor.
    public init() {}

    /// Returns `data` without the six bytes if it starts with them.
    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
    }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// A preprocessor that removes the prefix `)]}',` and the line feed.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
