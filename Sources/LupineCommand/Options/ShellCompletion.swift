// SPDX-License-Identifier: MIT

/// The completions of three shells, made from the table of options.
enum ShellCompletion {
    /// Returns the script for a shell: `bash`, `zsh` or `fish`.
    static func script(for shell: String) -> String {
        switch shell {
        case "bash": bash()
        case "zsh": zsh()
        default: fish()
        }
    }

    private static let subcommands = ["help", "serve", "demo", "completions", "manual", "version"]

    /// Returns all names of an option, with their dashes.
    private static func names(_ option: Option) -> [String] {
        (option.short.map { ["-\($0)"] } ?? []) + option.longNames.map { "--\($0)" }
    }

    private static func bash() -> String {
        let all = OptionTable.all.flatMap(names).joined(separator: " ")
        var cases: [String] = []
        for option in OptionTable.all {
            let pattern = names(option).joined(separator: "|")
            switch option.argument {
            case .file: cases.append("    \(pattern)) COMPREPLY=( $(compgen -f -- \"$cur\") ); return ;;")
            case .oneOf(let words):
                let list = words.joined(separator: " ")
                cases.append("    \(pattern)) COMPREPLY=( $(compgen -W \"\(list)\" -- \"$cur\") ); return ;;")
            case .value: cases.append("    \(pattern)) return ;;")
            case .none, .optional: break
            }
        }
        return """
            # bash completion for lupine: eval "$(lupine completions bash)"
            _lupine() {
              local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
              case $prev in
            \(cases.joined(separator: "\n"))
              esac
              if [[ $cur == -* ]]; then
                COMPREPLY=( $(compgen -W "\(all)" -- "$cur") )
              elif [[ $COMP_CWORD == 1 ]]; then
                COMPREPLY=( $(compgen -W "\(subcommands.joined(separator: " "))" -- "$cur") )
              else
                COMPREPLY=( $(compgen -f -- "$cur") )
              fi
            }
            complete -o default -F _lupine lupine

            """
    }

    private static func zsh() -> String {
        let rows = OptionTable.all.flatMap { option in
            names(option).map { name -> String in
                let brief = option.brief.replacing("'", with: "'\\''").replacing("[", with: "\\[")
                    .replacing("]", with: "\\]").replacing(":", with: "\\:")
                let tail: String
                switch option.argument {
                case .none, .optional: tail = ""
                case .value(let word): tail = ":\(word.replacing(":", with: "\\:")):"
                case .file(let word): tail = ":\(word):_files"
                case .oneOf(let words): tail = ":word:(\(words.joined(separator: " ")))"
                }
                return "    '*\(name)[\(brief)]\(tail)'"
            }
        }
        return """
            #compdef lupine
            # zsh completion for lupine: lupine completions zsh > "${fpath[1]}/_lupine"
            _lupine() {
              _arguments -s \\
            \(rows.joined(separator: " \\\n")) \\
                '1:order or URL:(\(subcommands.joined(separator: " ")))' '*:item:_files'
            }
            _lupine "$@"

            """
    }

    private static func fish() -> String {
        let rows = OptionTable.all.map { option -> String in
            let brief = option.brief.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            var row = "complete -c lupine"
            if let short = option.short { row += " -s \(short)" }
            for long in option.longNames { row += " -l \(long)" }
            switch option.argument {
            case .none, .optional: break
            case .value: row += " -x"
            case .file: row += " -r -F"
            case .oneOf(let words): row += " -x -a '\(words.joined(separator: " "))'"
            }
            return row + " -d '\(brief)'"
        }
        let first = "complete -c lupine -n __fish_use_subcommand -a '\(subcommands.joined(separator: " "))'"
        return (["# fish completion for lupine: lupine completions fish | source", first] + rows)
            .joined(separator: "\n") + "\n"
    }
}
