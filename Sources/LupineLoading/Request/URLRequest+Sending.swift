// SPDX-License-Identifier: MIT

internal import Foundation
package import LupineHTTP

/// The reason why a request cannot be sent: its method or a header field is not valid in HTTP. The task fails with
/// `URLError.badURL`, whose underlying error is of this type.
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
    /// Returns the method as a value of the HTTP codec; throws if it is not valid.
    package func checkedMethod() throws(URLRequestError) -> LupineHTTP.Method {
        let method = contents.value.httpMethod
        do { return try LupineHTTP.Method(method) } catch { throw .invalidMethod(method) }
    }

    /// Validates all header fields; throws for the first that is not valid.
    package func checkFields() throws(URLRequestError) {
        try contents.value.headers.check()
    }
}

extension HeaderList {
    /// Appends this list to `fields` in order, except the fields that the loader sets itself.
    ///
    /// - Parameters:
    ///   - fields: The fields to append to.
    ///   - isOmitted: Returns whether to omit another field, too.
    /// - Throws: An error for the first field that is not valid. Omitted fields are also validated.
    func add(to fields: inout Fields, except isOmitted: (FieldName) -> Bool) throws(URLRequestError) {
        for field in self.fields {
            let name: FieldName
            do { name = try FieldName(field.name) } catch { throw .invalidFieldName(field.name) }
            if Self.isLoaderOwned(name) || isOmitted(name) {
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

    /// Returns whether the loader sets the field with this name and ignores the program's field. These are the fields that frame
    /// the message or apply to a single connection.
    ///
    /// There is one exception: if the program sends a body stream, the loader reads its length from the program's
    /// `Content-Length`.
    private static func isLoaderOwned(_ name: FieldName) -> Bool {
        name == .contentLength || name == .transferEncoding || name == .connection || name.isForProxy
    }

    /// Validates all fields; throws for the first that is not valid.
    func check() throws(URLRequestError) {
        for field in fields {
            guard FieldName.isName(field.name.utf8.span) else { throw .invalidFieldName(field.name) }
            guard Fields.isValue(field.value.utf8.span) else { throw .invalidFieldValue(name: field.name) }
        }
    }
}
