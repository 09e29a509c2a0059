// SPDX-License-Identifier: MIT

extension URLRequest.NetworkServiceType {
    /// The priority of a task that was given none (U-9.19). What a person is waiting for goes first, what nobody waits for last.
    var priority: Float {
        switch self {
        case .responsiveData, .responsiveAV, .voice, .voip, .callSignaling: URLSessionTask.highPriority
        case .background: URLSessionTask.lowPriority
        case .default, .video, .avStreaming: URLSessionTask.defaultPriority
        }
    }
}
