// SPDX-License-Identifier: MIT

/// How fast something grows: the median of the slopes between all pairs of readings (Theil and Sen), which a few readings at
/// a bad moment do not move. A value.
struct Slope {
    /// By how much it grows from one reading to the next.
    let perReading: Double

    /// The slope of readings that were made at even distances; zero of fewer than two.
    init(_ readings: [Int]) {
        var slopes: [Double] = []
        for (place, earlier) in readings.enumerated() {
            for (distance, later) in readings[(place + 1)...].enumerated() {
                slopes.append(Double(later - earlier) / Double(distance + 1))
            }
        }
        slopes.sort()
        perReading = slopes.isEmpty ? 0 : (slopes[(slopes.count - 1) / 2] + slopes[slopes.count / 2]) / 2
    }
}
