// SPDX-License-Identifier: MIT

public import Foundation

/// Leaves content as it came.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// A preprocessor that does nothing.
    public init() {}

    /// `data`.
    public func preprocess(_ data: Data) throws -> Data { data }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// Leaves content as it came.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}
