// SPDX-License-Identifier: MIT

import Testing

@testable import LupineLoading

struct TaskMachineTests {
    typealias Event = TaskMachine.Event
    typealias Action = TaskMachine.Action
    typealias State = TaskMachine.State

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let past: [Event]
        let event: Event
        let action: Action
        let state: State
        init(_ name: String, _ past: [Event], _ event: Event, _ action: Action, _ state: State) {
            (testDescription, self.past, self.event, self.action, self.state) = (
                name, past, event, action, state
            )
        }
    }

    static let rows = [
        Row("a task starts when it is resumed", [], .resume, .start, .running),
        Row(
            "[U-6.1, U-6.2, T-2] suspending a task that never ran has no effect", [], .suspend, .none,
            .notStarted),
        Row(
            "[U-6.1] one resume undoes any number of suspends", [.suspend, .suspend], .resume, .start,
            .running),
        Row("[U-6.5] a task that never ran ends at once", [], .cancel, .endUnstarted, .cancelling),
        Row("resuming a running task has no effect", [.resume], .resume, .none, .running),
        Row("a running task can be suspended", [.resume], .suspend, .setSuspended(true), .suspended),
        Row("[U-6.5] a running task can be cancelled", [.resume], .cancel, .cancelLoad, .cancelling),
        Row("a running task completes", [.resume], .finish, .complete, .completed),
        Row(
            "[U-6.1] a suspended task continues", [.resume, .suspend], .resume, .setSuspended(false), .running
        ),
        Row("[U-6.1] a suspended task is suspended once", [.resume, .suspend], .suspend, .none, .suspended),
        Row("a suspended task can be cancelled", [.resume, .suspend], .cancel, .cancelLoad, .cancelling),
        Row(
            "a suspended task completes if its load had ended", [.resume, .suspend], .finish, .complete,
            .completed),
        Row("[U-6.3] a cancelled task cannot be resumed", [.resume, .cancel], .resume, .none, .cancelling),
        Row(
            "[U-6.3] a cancelled task cannot be suspended", [.resume, .cancel], .suspend, .none, .cancelling),
        Row("a cancelled task is cancelled once", [.resume, .cancel], .cancel, .none, .cancelling),
        Row(
            "a cancelled task completes as cancelled", [.resume, .cancel], .finish, .completeCancelled,
            .completed),
        Row("a task that never ran completes", [.cancel], .finish, .completeCancelled, .completed),
        Row("[U-6.3] a completed task cannot be resumed", [.resume, .finish], .resume, .none, .completed),
        Row("[U-6.3] a completed task cannot be suspended", [.resume, .finish], .suspend, .none, .completed),
        Row("[U-6.5] a completed task cannot be cancelled", [.resume, .finish], .cancel, .none, .completed),
    ]

    @Test(arguments: rows)
    func everyTransition(_ row: Row) {
        var machine = TaskMachine()
        for event in row.past { _ = machine.handle(event) }
        #expect(machine.handle(row.event) == row.action)
        #expect(machine.state == row.state)
    }

    @Test func theRowsCoverEveryTransition() {
        var walked: Set<String> = []
        for row in Self.rows {
            var machine = TaskMachine()
            for event in row.past { _ = machine.handle(event) }
            walked.insert("\(machine.state) \(row.event)")
        }
        // Two transitions are impossible: the end of a task that never began, and a second end.
        #expect(walked.count == 5 * Event.allCases.count - 2)
    }

    @Test("[T-2] the program sees four states")
    func shownStates() {
        var machine = TaskMachine()
        #expect(machine.publicState == .suspended)
        _ = machine.handle(.resume)
        #expect(machine.publicState == .running)
        _ = machine.handle(.suspend)
        #expect(machine.publicState == .suspended)
        _ = machine.handle(.cancel)
        #expect(machine.publicState == .canceling)
        _ = machine.handle(.finish)
        #expect(machine.publicState == .completed)
    }
}
