// SPDX-License-Identifier: MIT

internal import Foundation
package import LupineHTTP

/// Why a request cannot be sent: what its caller gave is no part of HTTP. Becomes `URLError.badURL` with this underneath.
public enum URLRequestError: Error, Hashable, Sendable {
    /// The method is not a token.
    case invalidMethod(String)
    /// The name of a header field is not a token.
    case invalidFieldName(String)
    /// The value of the header field of that name holds an octet that no value may hold. The value is not quoted: it may
    /// be a secret.
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

/// What of a request goes into a head, judged (U-1.2, U-1.4, U-1.7).
extension URLRequest {
    /// The method as the codec takes it.
    package func checkedMethod() throws(URLRequestError) -> LupineHTTP.Method {
        let method = contents.value.httpMethod
        do { return try LupineHTTP.Method(method) } catch { throw .invalidMethod(method) }
    }

    /// Judges the caller's header fields, all of them.
    package func checkFields() throws(URLRequestError) {
        try contents.value.headers.check()
    }
}

extension HeaderList {
    /// Adds the fields in their order, without those that are the loader's own. All are judged, also those.
    ///
    /// - Parameters:
    ///   - fields: Those that go before them.
    ///   - isLeftOut: Says of a field that is not the loader's that it is left out all the same.
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

    /// Whether a caller's field of that name is ignored: it frames the message or is about one connection. A length that the
    /// caller gave to a stream is announced by the loader, too.
    private static func isLoaderOwned(_ name: FieldName) -> Bool {
        name == .contentLength || name == .transferEncoding || name == .connection || name.isForProxy
    }

    /// Judges the fields, all of them.
    func check() throws(URLRequestError) {
        for field in fields {
            guard FieldName.isName(field.name.utf8.span) else { throw .invalidFieldName(field.name) }
            guard Fields.isValue(field.value.utf8.span) else { throw .invalidFieldValue(name: field.name) }
        }
    }
}
