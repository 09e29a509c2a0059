// SPDX-License-Identifier: MIT

public import LupineLoading

extension URLSessionConfiguration {
    /// `httpAdditionalHeaders`, in no particular order: what requests get that do not set it themselves. None when they hold
    /// anything but strings.
    public var headers: HTTPHeaders {
        get { (httpAdditionalHeaders as? [String: String]).map { HTTPHeaders($0) } ?? HTTPHeaders() }
        set { httpAdditionalHeaders = newValue.dictionary }
    }
}

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// A new default configuration with the headers `HTTPHeaders.default`.
    public static var `default`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.headers = .default
        return configuration
    }

    /// A new ephemeral configuration with the headers `HTTPHeaders.default`.
    public static var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.headers = .default
        return configuration
    }
}
