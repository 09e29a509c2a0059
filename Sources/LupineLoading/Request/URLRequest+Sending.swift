// SPDX-License-Identifier: MIT

internal import Foundation
package import LupineHTTP

/// Why a request cannot be sent: the caller's input is not valid HTTP. Becomes `URLError.badURL` with this as underlying error.
public enum URLRequestError: Error, Hashable, Sendable {
    /// The method is not a token.
    case invalidMethod(String)
    /// The name of a header field is not a token.
    case invalidFieldName(String)
    /// The value of the header field with this name contains an octet that is not allowed in a value. The value is not included:
    /// it may be a secret.
    case invalidFieldValue(name: String)
}

extension URLRequestError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidMethod(let method): "the method \(method.debugDescription) is not a token"
        case .invalidFieldName(let name): "the header field name \(name.debugDescription) is not a token"
        case .invalidFieldValue(let name): "the value of the header field \(name) holds a control character"
        }
    }
}

/// Validates the parts of a request that go into its head (U-1.2, U-1.4, U-1.7).
extension URLRequest {
    /// The method as a type of the codec.
    package func checkedMethod() throws(URLRequestError) -> LupineHTTP.Method {
        let method = contents.value.httpMethod
        do { return try LupineHTTP.Method(method) } catch { throw .invalidMethod(method) }
    }

    /// Validates all of the caller's header fields.
    package func checkFields() throws(URLRequestError) {
        try contents.value.headers.check()
    }
}

extension HeaderList {
    /// Adds the fields in order, without those that the loader sets itself. All fields are validated, also the omitted ones.
    ///
    /// - Parameters:
    ///   - fields: The fields to append to.
    ///   - isLeftOut: Returns whether a field is omitted although the loader does not set it.
    func add(to fields: inout Fields, except isLeftOut: (FieldName) -> Bool) throws(URLRequestError) {
        for field in self.fields {
            let name: FieldName
            do { name = try FieldName(field.name) } catch { throw .invalidFieldName(field.name) }
            if Self.isLoaderOwned(name) || isLeftOut(name) {
                guard Fields.isValue(field.value.utf8.span) else {
                    throw .invalidFieldValue(name: field.name)
                }
            } else {
                do { try fields.append(name, field.value) } catch {
                    throw .invalidFieldValue(name: field.name)
                }
            }
        }
    }

    /// Whether a caller's field with this name is ignored, because it frames the message or concerns a single connection. The
    /// loader also announces the length that a caller gave for a stream.
    private static func isLoaderOwned(_ name: FieldName) -> Bool {
        name == .contentLength || name == .transferEncoding || name == .connection || name.isForProxy
    }

    /// Validates all fields.
    func check() throws(URLRequestError) {
        for field in fields {
            guard FieldName.isName(field.name.utf8.span) else { throw .invalidFieldName(field.name) }
            guard Fields.isValue(field.value.utf8.span) else { throw .invalidFieldValue(name: field.name) }
        }
    }
}
