/// Creates the text of `--help` from the tables.
enum HelpText {
  /// The complete help of one command.
  static func text(for command: CommandSyntax, path: [String], style: TextStyle = .plain) -> String {
    var blocks = [
      style.bold(path.joined(separator: " ")) + " - " + command.summary + "\n", usage(command, path, style),
    ]
    blocks += command.discussion.map { wrap($0, width: 78) }
    blocks.append(section("Arguments", command.operands.map { ($0.name, operandSummary($0)) }, style))
    let visible = command.subcommands.filter { !$0.isHidden }
    blocks.append(section("Commands", visible.map { ($0.name, $0.summary) }, style))
    blocks.append(section("Options", command.allOptions.map { (optionUsage($0), optionSummary($0)) }, style))
    if !command.examples.isEmpty {
      blocks.append(style.bold("Examples") + "\n" + command.examples.map { "  \($0)\n" }.joined())
    }
    if path.count == 1 { blocks.append(exitStatuses(style)) }
    return blocks.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// The usage line, such as `larder get [options] URL`.
  static func usageLine(_ command: CommandSyntax, _ path: [String]) -> String {
    let operands = command.subcommands.isEmpty ? command.operands.map(\.usage) : ["COMMAND ..."]
    return (path + ["[options]"] + operands).joined(separator: " ")
  }

  private static func usage(_ command: CommandSyntax, _ path: [String], _ style: TextStyle) -> String {
    style.bold("Usage") + "\n  " + usageLine(command, path) + "\n"
  }

  private static func exitStatuses(_ style: TextStyle) -> String {
    let rows = CommandStatus.documented.map { ("\($0.status.code)", $0.meaning) }
    return section("Exit status", rows, style)
  }

  private static func optionUsage(_ option: OptionSyntax) -> String {
    let names = [option.short, option.name].compactMap { $0 }.joined(separator: ", ")
    return option.valueName.map { names + " " + $0 } ?? names
  }

  private static func optionSummary(_ option: OptionSyntax) -> String {
    var text = option.summary
    if case .words(let words) = option.value { text += " (\(words.joined(separator: ", ")))" }
    return option.isRepeatable ? text + "; may be repeated" : text
  }

  private static func operandSummary(_ operand: OperandSyntax) -> String {
    guard case .words(let words) = operand.value else { return operand.summary }
    return "\(operand.summary) (\(words.joined(separator: ", ")))"
  }

  private static func section(_ title: String, _ rows: [(String, String)], _ style: TextStyle) -> String {
    guard !rows.isEmpty else { return "" }
    let width = min(rows.map(\.0.count).max() ?? 0, 26)
    var text = style.bold(title) + "\n"
    for (left, right) in rows {
      let lines = wrap(right, width: 76 - width).split(separator: "\n")
      let gap = left.count > width ? "\n" + spaces(width + 4) : spaces(width - left.count + 2)
      text += "  " + left + gap + (lines.first ?? "") + "\n"
      for line in lines.dropFirst() { text += spaces(width + 4) + line + "\n" }
    }
    return text
  }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(count, 0)) }

  /// Wraps a text between words; each line ends with a line feed.
  static func wrap(_ text: String, width: Int) -> String {
    var out = ""
    var column = 0
    for word in text.split(separator: " ") {
      if column > 0, column + 1 + word.count > width {
        out += "\n"
        column = 0
      }
      if column > 0 {
        out += " "
        column += 1
      }
      out += word
      column += word.count
    }
    return out + "\n"
  }
}
