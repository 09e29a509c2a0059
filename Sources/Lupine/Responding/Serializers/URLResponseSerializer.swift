// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Returns the URL of a download's file. Never reads the file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Creates a serializer.
    public init() {}

    /// Returns the file's URL. Throws `inputFileNil` when there is no file.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// A serializer that returns the URL of the file.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
