// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation

extension OperationQueue {
    /// Creates a queue and sets the properties of the same names. `startSuspended` sets `isSuspended`.
    convenience init(
        qualityOfService: QualityOfService = .default,
        maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        underlyingQueue: DispatchQueue? = nil, name: String? = nil, startSuspended: Bool = false
    ) {
        self.init()
        self.qualityOfService = qualityOfService
        self.maxConcurrentOperationCount = maxConcurrentOperationCount
        unsafe self.underlyingQueue = underlyingQueue
        self.name = name
        isSuspended = startSuspended
    }
}
