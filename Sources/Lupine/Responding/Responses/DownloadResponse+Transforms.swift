// SPDX-License-Identifier: MIT

/// Methods that return the response with another result and all other properties unchanged.
extension DownloadResponse {
    /// Returns the response with its value transformed. `transform` is not called for a failure.
    public func map<NewSuccess: Sendable>(
        _ transform: (Success) -> NewSuccess
    ) -> DownloadResponse<NewSuccess, Failure> {
        with(result.map(transform))
    }

    /// Returns the response with its value transformed. If `transform` throws, the thrown error becomes the failure, not wrapped
    /// in an `AFError`. `transform` is not called for a failure.
    public func tryMap<NewSuccess: Sendable>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DownloadResponse<NewSuccess, any Error> {
        with(result.tryMap(transform))
    }

    /// Returns the response with its error transformed. `transform` is not called for a success.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DownloadResponse<Success, NewFailure> {
        with(result.mapError(transform))
    }

    /// Returns the response with its error transformed. If `transform` throws, the thrown error becomes the failure, not wrapped
    /// in an `AFError`. `transform` is not called for a success.
    public func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DownloadResponse<Success, any Error> {
        with(result.tryMapError(transform))
    }

    /// Returns a copy of the response with this result.
    private func with<NewSuccess, NewFailure>(
        _ result: Result<NewSuccess, NewFailure>
    ) -> DownloadResponse<NewSuccess, NewFailure> {
        DownloadResponse<NewSuccess, NewFailure>(
            request: request, response: response, fileURL: fileURL, resumeData: resumeData, metrics: metrics,
            serializationDuration: serializationDuration, result: result)
    }
}
