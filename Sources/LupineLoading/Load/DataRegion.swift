// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A body in memory, sent from where the caller's `Data` keeps it.
struct DataRegion: OutgoingRegion {
    private let data: Data

    /// The bytes of `data`, none of which is copied.
    init(_ data: Data) { self.data = data }

    var count: Int { data.count }

    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(data.span)
    }
}
