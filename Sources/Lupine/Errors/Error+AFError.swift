// SPDX-License-Identifier: MIT

/// Errors of requests are typed; these are for where the type was lost on the way.
extension Error {
    /// The error as an `AFError`; nil when it is none.
    public var asAFError: AFError? { self as? AFError }

    /// The error as an `AFError`. It stops the program, with the message, when it is none.
    public func asAFError(
        orFailWith message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
    ) -> AFError {
        guard let error = asAFError else { preconditionFailure(message(), file: file, line: line) }
        return error
    }

    /// The error as an `AFError`, else the one that is given.
    func asAFError(or defaultAFError: @autoclosure () -> AFError) -> AFError {
        asAFError ?? defaultAFError()
    }
}
