// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Gives where a download's file is. Never looks at the file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// A serializer of that kind.
    public init() {}

    /// The file's place. Throws `inputFileNil` when the download left no file.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// Gives where the file is.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
