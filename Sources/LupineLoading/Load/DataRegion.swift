// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A body in memory. The connection sends it directly from the storage of the caller's `Data`.
struct DataRegion: OutgoingRegion {
    private let data: Data

    /// Refers to the bytes of `data` without copying them.
    init(_ data: Data) { self.data = data }

    var count: Int { data.count }

    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(data.span)
    }
}
