// SPDX-License-Identifier: MIT

public import LupineLoading

// Methods in an extension, which subclasses cannot override. Alamofire declares these methods in the same way.

extension ClosureEventMonitor {
    /// Calls `requestDidResumeTask`.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        requestDidResumeTask?(request, task)
    }

    /// Calls `requestDidSuspendTask`.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        requestDidSuspendTask?(request, task)
    }

    /// Calls `requestDidCancelTask`.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        requestDidCancelTask?(request, task)
    }

    /// Calls `requestDidValidateRequestResponseWithResult`.
    public func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseWithResult?(request, urlRequest, response, result)
    }
}
