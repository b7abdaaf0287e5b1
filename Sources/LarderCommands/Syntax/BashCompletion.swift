/// Creates the completion script for bash 4 and newer.
enum BashCompletion {
  static func script(for root: CommandSyntax) -> String {
    let all = PlacedCommand.all(below: root)
    let function = "_\(root.name)"
    let valued = Set(all.flatMap { $0.command.allOptions }.filter { $0.valueName != nil }.flatMap(names)).sorted()
    let deeper = all.dropFirst().map { "\"\($0.path.joined(separator: " "))\"" }
    return """
      # bash completion for \(root.name). Load it with: source <(\(root.name) completion bash)
      \(function)() {
        local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
        local command="\(root.name)" words="" index word
        COMPREPLY=()
        for ((index = 1; index < COMP_CWORD; index++)); do
          word="${COMP_WORDS[index]}"
          case "$word" in
            \(valued.joined(separator: "|"))) ((index++)); continue ;;
          esac
          case "$command $word" in
            \(deeper.joined(separator: "|"))) command="$command $word" ;;
          esac
        done
        case "$command $previous" in
      \(all.flatMap(valueCases).joined(separator: "\n"))
        esac
        case "$command" in
      \(all.map(wordCase).joined(separator: "\n"))
        esac
      }
      complete -o bashdefault -o default -F \(function) \(root.name)

      """
  }

  private static func names(_ option: OptionSyntax) -> [String] { [option.name] + (option.short.map { [$0] } ?? []) }

  private static func valueCases(_ placed: PlacedCommand) -> [String] {
    placed.command.allOptions.filter { $0.valueName != nil }.map { option in
      let patterns = names(option).map { "\"\(placed.path.joined(separator: " ")) \($0)\"" }
      return "    \(patterns.joined(separator: "|"))) \(action(option.value)); return ;;"
    }
  }

  private static func action(_ value: OptionSyntax.Value) -> String {
    switch value {
    case .file: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
    case .directory: "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\")"
    case .words(let words): "mapfile -t COMPREPLY < <(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\")"
    case .text: "compopt +o default +o bashdefault"
    }
  }

  private static func wordCase(_ placed: PlacedCommand) -> String {
    let options = placed.command.allOptions.map(\.name)
    let words = placed.visible.map(\.name) + placed.operandWords
    return """
          "\(placed.path.joined(separator: " "))")
            if [[ "$current" == -* ]]; then words="\(options.joined(separator: " "))"; else words="\(words.joined(separator: " "))"; fi
            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
      """
  }
}
