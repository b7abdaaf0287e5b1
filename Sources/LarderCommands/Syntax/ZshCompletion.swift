/// Creates the completion script for zsh.
enum ZshCompletion {
  static func script(for root: CommandSyntax) -> String {
    let functions = PlacedCommand.all(below: root).map(function)
    return """
      #compdef \(root.name)
      # zsh completion for \(root.name). Load it with: source <(\(root.name) completion zsh)
      \(functions.joined(separator: "\n"))
      if [[ "$funcstack[1]" == "_\(root.name)" ]]; then
        _\(root.name) "$@"
      else
        compdef _\(root.name) \(root.name)
      fi

      """
  }

  private static func name(_ path: [String]) -> String { "_" + path.joined(separator: "_") }

  private static func function(_ placed: PlacedCommand) -> String {
    var lines = placed.command.allOptions.map { "    " + option($0) }
    if placed.visible.isEmpty {
      lines += placed.command.operands.map { "    " + operand($0) }
    } else {
      lines += ["    '1: :->command'", "    '*:: :->rest'"]
    }
    let arguments = lines.joined(separator: " \\\n")
    guard !placed.visible.isEmpty else {
      return "\(name(placed.path))() {\n  _arguments -s -S \\\n\(arguments)\n}"
    }
    let described = placed.visible.map { "      '\($0.name):\(escaped($0.summary))'" }
    let calls = placed.visible.map { "        \($0.name)) \(name(placed.path + [$0.name])) ;;" }
    return """
      \(name(placed.path))() {
        local context state state_descr line
        typeset -A opt_args
        _arguments -C -S \\
      \(arguments)
        case "$state" in
          command)
            local -a commands=(
      \(described.joined(separator: "\n"))
            )
            _describe -t commands command commands ;;
          rest)
            case "$line[1]" in
      \(calls.joined(separator: "\n"))
            esac ;;
        esac
      }
      """
  }

  private static func option(_ option: OptionSyntax) -> String {
    let names = [option.short, option.name].compactMap { $0 }
    let star = option.isRepeatable ? "*" : ""
    let value = option.valueName.map { ":\(escaped($0)):\(action(option.value))" } ?? ""
    let text = "[\(escaped(option.summary))]\(value)"
    guard names.count > 1 else { return "'\(star)\(option.name)\(text)'" }
    let exclusion = option.isRepeatable ? "*" : "(\(names.joined(separator: " ")))"
    return "'\(exclusion)'{\(names.joined(separator: ","))}'\(text)'"
  }

  private static func operand(_ operand: OperandSyntax) -> String {
    let count =
      switch operand.count {
      case .one: ":"
      case .optional: "::"
      case .many: "*:"
      }
    // An operand without completions would keep zsh from completing options in its place.
    let action = operand.value == .text ? "_guard \"^-*\" \(operand.name)" : action(operand.value)
    return "'\(count)\(operand.name):\(action)'"
  }

  private static func action(_ value: OptionSyntax.Value) -> String {
    switch value {
    case .file: "_files"
    case .directory: "_files -/"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .text: " "
    }
  }

  private static func escaped(_ text: String) -> String {
    var out = ""
    for character in text {
      switch character {
      case "'": out += "'\\''"
      case "[", "]", "\\": out += "\\\(character)"
      case ":": out += "\\:"
      default: out.append(character)
      }
    }
    return out
  }
}
