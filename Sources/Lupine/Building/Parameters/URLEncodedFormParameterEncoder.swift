// SPDX-License-Identifier: MIT

import Foundation
public import LupineLoading

/// Writes a value as a URL-encoded form: into the query of a GET, HEAD or DELETE request, into the body of every other
/// one.
///
/// Can be used on any thread. The class is `@unchecked Sendable` because the compiler cannot verify an open class. It stores
/// only constants. The program must not change the encoder after it was passed to the initializer.
open class URLEncodedFormParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// The part of a request that the form is written into.
    public enum Destination: Sendable {
        /// The query for GET, HEAD and DELETE, the body for all other methods.
        case methodDependent
        /// The query, after the pairs that it already has.
        case queryString
        /// The body.
        case httpBody

        /// Whether parameters of a request with this method are written into the query.
        func encodesInQuery(_ method: String) -> Bool {
            switch self {
            case .methodDependent: ["GET", "HEAD", "DELETE"].contains(method)
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// A parameter encoder whose destination depends on the method.
    public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// The underlying encoder.
    public let encoder: URLEncodedFormEncoder
    /// The part of a request that the form is written into.
    public let destination: Destination

    /// Creates a parameter encoder that uses `encoder`.
    public init(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent
    ) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Returns the request with its parameters. Throws `parameterEncoderFailed`: `missingRequiredComponent` when the request
    /// has no URL or no method, `encoderFailed` with the encoder's error.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        guard let url = request.url else { throw Self.missingComponent(.url) }
        guard let method = request.httpMethod else {
            throw Self.missingComponent(.httpMethod(rawValue: "nil"))
        }
        // As in Alamofire, the form goes into the body if the URL cannot be split into components.
        let components =
            destination.encodesInQuery(method)
            ? URLComponents(url: url, resolvingAgainstBaseURL: true) : nil
        return try insert(encodedForm(of: parameters), into: components, of: request)
    }

    /// Returns `request` with the form in the query of `components`, or in the body when they are nil.
    func insert(
        _ form: String, into components: URLComponents?, of request: URLRequest
    ) throws -> URLRequest {
        var request = request
        if var components {
            let existingQuery = components.percentEncodedQuery.map { $0 + "&" } ?? ""
            let query = existingQuery + form
            components.setEncodedQuery(query.isEmpty ? nil : query)
            guard let url = components.url else { throw Self.missingComponent(.url) }
            request.url = url
        } else {
            if request.value(forHTTPHeaderField: "Content-Type") == nil {
                request.setValue(
                    "application/x-www-form-urlencoded; charset=utf-8", forHTTPHeaderField: "Content-Type")
            }
            request.httpBody = Data(form.utf8)
        }
        return request
    }

    private func encodedForm(of parameters: some Encodable) throws -> String {
        do {
            return try encoder.encode(parameters)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
    }

    private static func missingComponent(
        _ component: AFError.ParameterEncoderFailureReason.RequiredComponent
    ) -> AFError {
        .parameterEncoderFailed(reason: .missingRequiredComponent(component))
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// A new `URLEncodedFormParameterEncoder`.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// Returns a new `URLEncodedFormParameterEncoder` with these options.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}
