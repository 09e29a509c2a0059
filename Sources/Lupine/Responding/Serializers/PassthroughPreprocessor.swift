// SPDX-License-Identifier: MIT

public import Foundation

/// A preprocessor that leaves the content unchanged.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Creates a preprocessor.
    public init() {}

    /// Returns `data`.
    public func preprocess(_ data: Data) throws -> Data { data }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// A preprocessor that leaves the content unchanged.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}
