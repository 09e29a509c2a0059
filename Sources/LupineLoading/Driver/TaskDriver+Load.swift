// SPDX-License-Identifier: MIT

extension TaskDriver: TaskLoad {}

extension SessionCore {
    /// Makes the `TaskDriver` that carries out a task.
    static let makeDriver: LoadMaker = { TaskDriver($0, context: $1, client: $2) }
}
