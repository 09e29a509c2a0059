// SPDX-License-Identifier: MIT

/// Conversions to `AFError`, the type of the errors of requests, for code that has only an `any Error`.
extension Error {
    /// The error as an `AFError`; nil if it has another type.
    public var asAFError: AFError? { self as? AFError }

    /// Returns the error as an `AFError`. Traps with the message if it has another type.
    public func asAFError(
        orFailWith message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
    ) -> AFError {
        guard let error = asAFError else { preconditionFailure(message(), file: file, line: line) }
        return error
    }

    /// Returns the error as an `AFError`, or `defaultAFError` if it has another type.
    func asAFError(or defaultAFError: @autoclosure () -> AFError) -> AFError {
        asAFError ?? defaultAFError()
    }
}
