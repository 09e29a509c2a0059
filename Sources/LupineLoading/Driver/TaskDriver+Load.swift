// SPDX-License-Identifier: MIT

extension TaskDriver: TaskLoad {}

extension SessionCore {
    /// Makes the driver that carries out a task.
    static let makeTaskDriver: LoadMaker = { TaskDriver($0, context: $1, client: $2) }
}
