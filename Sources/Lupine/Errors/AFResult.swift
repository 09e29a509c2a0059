// SPDX-License-Identifier: MIT

/// A result whose failures are `AFError`s.
public typealias AFResult<Success> = Result<Success, AFError>

/// Properties and methods of results. They are internal, because a program may declare members of the same names.
extension Result {
    /// Whether the result is a success.
    var isSuccess: Bool {
        switch self {
        case .success: true
        case .failure: false
        }
    }

    /// Whether the result is a failure.
    var isFailure: Bool { !isSuccess }

    /// The value; nil for a failure.
    var success: Success? {
        switch self {
        case .success(let value): value
        case .failure: nil
        }
    }

    /// The error; nil for a success.
    var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }

    /// Creates a failure if there is an error, otherwise a success.
    init(value: Success, error: Failure?) {
        if let error {
            self = .failure(error)
        } else {
            self = .success(value)
        }
    }

    /// Returns the result with its value transformed. If `transform` throws, the thrown error becomes the failure.
    func tryMap<NewSuccess>(_ transform: (Success) throws -> NewSuccess) -> Result<NewSuccess, any Error> {
        switch self {
        case .success(let value): Result<NewSuccess, any Error> { try transform(value) }
        case .failure(let error): .failure(error)
        }
    }

    /// Returns the result with its error transformed. If `transform` throws, the thrown error becomes the failure.
    func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> Result<Success, any Error> {
        switch self {
        case .success(let value): return .success(value)
        case .failure(let error):
            do { return .failure(try transform(error)) } catch { return .failure(error) }
        }
    }
}
