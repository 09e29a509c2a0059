// SPDX-License-Identifier: MIT

public import Foundation

/// Takes away `)]}',` and the line's end that some services put before their JSON, so that no page can load it as a script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    /// A preprocessor of that kind.
    public init() {}

    /// `data` without the six bytes, when it starts with them; they are looked for nowhere else.
    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
    }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// Takes away `)]}',` and the line's end before the content.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
