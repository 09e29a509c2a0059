// SPDX-License-Identifier: MIT

public import LupineLoading

extension URLRequest {
    /// The header fields. Setting the property replaces all of them.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(headerList.fields.map { HTTPHeader(name: $0.name, value: $0.value) }) }
        set { headerList = HeaderList(newValue.map { HeaderList.Field(name: $0.name, value: $0.value) }) }
    }

    /// The value of `httpMethod`. Setting nil restores GET.
    public var method: HTTPMethod? {
        get { httpMethod.map(HTTPMethod.init(rawValue:)) }
        set { httpMethod = newValue?.rawValue }
    }

    /// Throws `AFError.urlRequestValidationFailed` when the request cannot be sent: a GET request with a body, even an empty
    /// one.
    public func validate() throws {
        if httpMethod == HTTPMethod.get.rawValue, let body = httpBody {
            throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(body))
        }
    }
}
