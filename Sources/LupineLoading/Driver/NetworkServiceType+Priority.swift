// SPDX-License-Identifier: MIT

extension URLRequest.NetworkServiceType {
    /// The priority of a task that was given none (U-9.19): high for traffic that a user waits for, low for traffic that no one
    /// does.
    var priority: Float {
        switch self {
        case .responsiveData, .responsiveAV, .voice, .voip, .callSignaling: URLSessionTask.highPriority
        case .background: URLSessionTask.lowPriority
        case .default, .video, .avStreaming: URLSessionTask.defaultPriority
        }
    }
}
