// SPDX-License-Identifier: MIT

extension URLRequest.NetworkServiceType {
    /// The priority of a task for which the program has set none (U-9.19): high for traffic that a user waits for, low for
    /// background traffic.
    var priority: Float {
        switch self {
        case .responsiveData, .responsiveAV, .voice, .voip, .callSignaling: URLSessionTask.highPriority
        case .background: URLSessionTask.lowPriority
        case .default, .video, .avStreaming: URLSessionTask.defaultPriority
        }
    }
}
