// SPDX-License-Identifier: MIT

/// The command line of a benchmark program.
package struct Options: Sendable {
    package var groups: [String] = []
    package var filter: String?
    package var json: String?
    package var compare: String?
    package var listsCases = false
    package var isQuick = false
    package var checksGoals = false
    /// The budget to check against.
    package var budget: String?
    /// The file to write a budget to.
    package var newBudget: String?
    package var charts: String?
    package var markdown: String?
    /// The entry to run without measurement, and the number of runs.
    package var loop: (entry: String, times: Int)?
    package var showsHelp = false

    package static let help = """
        lupine-bench [GROUP...] [options]
          GROUP           groups to run; all when none is named
          --filter TEXT   only cases whose group/case name contains TEXT
          --list          name the groups and their cases, and stop
          --quick         few and short samples: to see that it works, not to quote
          --json FILE     write the results to FILE
          --compare FILE  show what changed since the results in FILE
          --charts FOLDER    draw a chart of each group into FOLDER
          --markdown FILE    write the results to FILE as tables
          --check         exit with 1 when a goal is missed
          --check BUDGET.json   exit with 1 when a figure is over what the file allows
          --budget BUDGET.json  write such a file: what was measured, and a quarter more
          --loop NAME TIMES     run the entry group/case/entry so many times, unmeasured, and stop: for valgrind
        """

    /// Parses the arguments; throws an error with a message for the user if they are wrong.
    package init(_ arguments: [String]) throws(UsageError) {
        var remaining = arguments[...]
        func value(of option: String) throws(UsageError) -> String {
            guard let value = remaining.popFirst() else {
                throw UsageError(message: "\(option) needs a value")
            }
            return value
        }
        while let argument = remaining.popFirst() {
            switch argument {
            case "--filter": filter = try value(of: argument)
            case "--json": json = try value(of: argument)
            case "--compare": compare = try value(of: argument)
            case "--list": listsCases = true
            case "--quick": isQuick = true
            case "--check":
                if let next = remaining.first, next.hasSuffix(".json") {
                    budget = remaining.removeFirst()
                } else {
                    checksGoals = true
                }
            case "--budget": newBudget = try value(of: argument)
            case "--charts": charts = try value(of: argument)
            case "--markdown": markdown = try value(of: argument)
            case "--loop":
                let entry = try value(of: argument)
                guard let times = Int(try value(of: argument)), times > 0 else {
                    throw UsageError(message: "--loop needs how often")
                }
                loop = (entry, times)
            case "--help", "-h": showsHelp = true
            case _ where argument.hasPrefix("-"): throw UsageError(message: "unknown option \(argument)")
            case _: groups.append(argument)
            }
        }
    }
}

/// Thrown if the command line, or a file that it names, is not usable.
package struct UsageError: Error, Equatable {
    package let message: String

    package init(message: String) {
        self.message = message
    }
}
