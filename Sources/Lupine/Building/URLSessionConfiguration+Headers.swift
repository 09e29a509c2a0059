// SPDX-License-Identifier: MIT

public import LupineLoading

extension URLSessionConfiguration {
    /// `httpAdditionalHeaders`, in no particular order: the fields that are added to requests which do not set them. Empty
    /// when `httpAdditionalHeaders` holds values other than strings.
    public var headers: HTTPHeaders {
        get { (httpAdditionalHeaders as? [String: String]).map { HTTPHeaders($0) } ?? HTTPHeaders() }
        set { httpAdditionalHeaders = newValue.dictionary }
    }
}

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// A new default configuration with `HTTPHeaders.default`.
    public static var `default`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.headers = .default
        return configuration
    }

    /// A new ephemeral configuration with `HTTPHeaders.default`.
    public static var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.headers = .default
        return configuration
    }
}
