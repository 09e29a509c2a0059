// SPDX-License-Identifier: MIT

/// The growth of a quantity: the median of the slopes between all pairs of readings (Theil-Sen estimator), which a few outliers
/// do not change. A value.
struct Slope {
    /// The growth from one reading to the next.
    let perReading: Double

    /// Computes the slope of readings at equal distances; zero for fewer than two.
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
