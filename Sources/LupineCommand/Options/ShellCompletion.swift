// SPDX-License-Identifier: MIT

/// The completion scripts for three shells, made from the table of options. A script completes the names of options, values that
/// are one of a few words, subcommands and file names.
enum ShellCompletion {
    /// Returns the script for a shell: `bash`, `zsh` or `fish`.
    static func script(for shell: String) -> String {
        switch shell {
        case "bash": bashScript()
        case "zsh": zshScript()
        default: fishScript()
        }
    }

    private static let subcommands = ["help", "serve", "demo", "completions", "manual", "version"]

    private static func bashScript() -> String {
        let allNames = OptionTable.all.flatMap(\.allNames).joined(separator: " ")
        // The branches of a `case` over the previous word. They complete the value of an option.
        var cases: [String] = []
        for option in OptionTable.all {
            let pattern = option.allNames.joined(separator: "|")
            switch option.argument {
            case .file: cases.append("    \(pattern)) COMPREPLY=( $(compgen -f -- \"$cur\") ); return ;;")
            case .oneOf(let words):
                let list = words.joined(separator: " ")
                cases.append("    \(pattern)) COMPREPLY=( $(compgen -W \"\(list)\" -- \"$cur\") ); return ;;")
            case .value:
                // Nothing can be proposed for the value.
                cases.append("    \(pattern)) return ;;")
            case .none, .optional:
                // The next word is not a value of this option.
                break
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
                COMPREPLY=( $(compgen -W "\(allNames)" -- "$cur") )
              elif [[ $COMP_CWORD == 1 ]]; then
                COMPREPLY=( $(compgen -W "\(subcommands.joined(separator: " "))" -- "$cur") )
              else
                COMPREPLY=( $(compgen -f -- "$cur") )
              fi
            }
            complete -o default -F _lupine lupine

            """
    }

    private static func zshScript() -> String {
        // The arguments of `_arguments`: `*NAME[SUMMARY]:VALUE:ACTION`, in which the asterisk allows the option several times.
        var rows: [String] = []
        for option in OptionTable.all {
            let summary = option.summary.replacing("'", with: "'\\''").replacing("[", with: "\\[")
                .replacing("]", with: "\\]").replacing(":", with: "\\:")
            let valueAndAction =
                switch option.argument {
                case .none, .optional: ""
                case .value(let word): ":\(word.replacing(":", with: "\\:")):"
                case .file(let word): ":\(word):_files"
                case .oneOf(let words): ":word:(\(words.joined(separator: " ")))"
                }
            for name in option.allNames { rows.append("    '*\(name)[\(summary)]\(valueAndAction)'") }
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

    private static func fishScript() -> String {
        var rows = [
            "# fish completion for lupine: lupine completions fish | source",
            "complete -c lupine -n __fish_use_subcommand -a '\(subcommands.joined(separator: " "))'",
        ]
        for option in OptionTable.all {
            let summary = option.summary.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            var row = "complete -c lupine"
            if let letter = option.shortName { row += " -s \(letter)" }
            for name in option.longNames { row += " -l \(name)" }
            // -x: the option has a value, which is not a file name. -r -F: its value is a file name.
            switch option.argument {
            case .none, .optional: break
            case .value: row += " -x"
            case .file: row += " -r -F"
            case .oneOf(let words): row += " -x -a '\(words.joined(separator: " "))'"
            }
            rows.append(row + " -d '\(summary)'")
        }
        return rows.joined(separator: "\n") + "\n"
    }
}
