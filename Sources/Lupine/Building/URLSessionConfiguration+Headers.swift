// SPDX-License-Identifier: MIT

public import LupineLoading

extension URLSessionConfiguration {
    /// The fields of `httpAdditionalHeaders`, in no particular order. The session adds them to requests that do not set fields of
    /// the same names. Empty if `httpAdditionalHeaders` contains values other than strings.
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
