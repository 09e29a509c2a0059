// SPDX-License-Identifier: MIT

/// A result whose failures are `AFError`s.
public typealias AFResult<Success> = Result<Success, AFError>

/// What the pipeline asks of results. Internal: users' code may well declare the same names.
extension Result {
    /// Whether there is a value.
    var isSuccess: Bool {
        switch self {
        case .success: true
        case .failure: false
        }
    }

    /// Whether there is an error.
    var isFailure: Bool { !isSuccess }

    /// The value, if there is one.
    var success: Success? {
        switch self {
        case .success(let value): value
        case .failure: nil
        }
    }

    /// The error, if there is one.
    var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }

    /// The error if there is one, else the value.
    init(value: Success, error: Failure?) {
        if let error {
            self = .failure(error)
        } else {
            self = .success(value)
        }
    }

    /// The value transformed; what the transform throws is the failure.
    func tryMap<NewSuccess>(_ transform: (Success) throws -> NewSuccess) -> Result<NewSuccess, any Error> {
        switch self {
        case .success(let value): Result<NewSuccess, any Error> { try transform(value) }
        case .failure(let error): .failure(error)
        }
    }

    /// The error transformed; what the transform throws is the failure instead.
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
