internal import LarderOData

/// How `larder parse` parses texts, from its options.
struct ParseRequest: Sendable {
  /// The version and the limits.
  var options = ODataParserOptions()
  /// The grammar rule to start with; nil parses a URL or path, or options if the text begins with `?` or `$`.
  var rule: ODataGrammarRule?
  /// The model in which names are looked up.
  var binding: ParseBinding?

  /// Reads the options of the command line.
  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    var version: ODataVersion?
    if arguments.has(.v2) {
      guard arguments[.odataVersion] == nil else {
        throw arguments.usage("--v2 and --odata-version cannot be combined")
      }
      version = .v2
    }
    if let text = arguments[.odataVersion] { version = try ParseRequest.version(text, arguments) }
    if let name = arguments[.rule] { rule = try ParseRequest.rule(name, arguments) }
    let (type, set) = (arguments[.parseType], arguments[.parseSet])
    if type != nil, set != nil { throw arguments.usage("--type and --set cannot be combined") }
    if let file = arguments[.parseModel] {
      let binding = ParseBinding(try MetadataFile.read(file, context), version: version, type: type, set: set)
      version = version ?? binding.version
      self.binding = binding
    } else if type != nil || set != nil {
      throw arguments.usage("--type and --set need --model FILE")
    }
    if let version { options.version = version }
  }

  /// The JSON tree of a text, bound if there is a model.
  func tree(of text: String, _ arguments: ParsedArguments) throws -> JSONNode {
    let tree: ODataSyntaxTree
    do throws(ODataSyntaxError) { tree = try parse(text) } catch {
      throw ParseRequest.failure(
        "\(error.problem)", in: text, offset: error.offset, excerpt: error.excerpt, column: error.column)
    }
    guard let binding else { return SyntaxNode.tree(tree) }
    do throws(ParseBinding.Failure) { return try binding.bind(tree, text: text) } catch {
      switch error {
      case .notBindable(let reason): throw arguments.usage(reason)
      case .binding(let error):
        throw ParseRequest.failure(
          "\(error.problem)", in: text, offset: error.offset, excerpt: error.excerpt, column: error.column)
      }
    }
  }

  private static func failure(
    _ problem: String, in text: String, offset: Int?, excerpt: String, column: Int
  ) -> CommandFailure {
    guard let offset else { return CommandFailure(.negative, problem) }
    return CommandFailure(
      .negative, "\(problem) (at character \(ParseLines.characters(in: text, before: offset) + 1))",
      hint: "  \(excerpt)\n  \(String(repeating: " ", count: column))^")
  }

  /// Why a text cannot be parsed or bound; nil if it can.
  func parseFailure(of text: String, rule: ODataGrammarRule?) -> ParseLines.ParseFailure? {
    var request = self
    if let rule { request.rule = rule }
    let tree: ODataSyntaxTree
    do throws(ODataSyntaxError) { tree = try request.parse(text) } catch {
      return ParseLines.ParseFailure(offset: error.offset, message: "\(error.problem)")
    }
    guard let binding else { return nil }
    do throws(ParseBinding.Failure) {
      _ = try binding.bind(tree, text: text)
      return nil
    } catch {
      switch error {
      case .notBindable(let reason): return ParseLines.ParseFailure(offset: nil, message: reason)
      case .binding(let error): return ParseLines.ParseFailure(offset: error.offset, message: "\(error.problem)")
      }
    }
  }

  /// Parses a text.
  func parse(_ text: String) throws(ODataSyntaxError) -> ODataSyntaxTree {
    if let rule { return try rule.parse(text, options: options) }
    let parser = ODataParser(options: options)
    guard text.hasPrefix("?") || ParseRequest.startsWithOption(text) else { return .url(try parser.url(text)) }
    guard text.hasPrefix("?") else { return .options(try parser.queryOptions(text)) }
    do throws(ODataSyntaxError) { return .options(try parser.queryOptions(String(text.dropFirst()))) } catch {
      // The place counts from the beginning of the given text.
      throw ODataSyntaxError(error.problem, offset: error.offset + 1, in: text)
    }
  }

  /// Whether a text that begins with `$` is options, not `$metadata` or `$crossjoin(…)`.
  private static func startsWithOption(_ text: String) -> Bool {
    guard text.hasPrefix("$") else { return false }
    return text.prefix { $0 != "=" }.dropFirst().allSatisfy { $0.isASCII && $0.isLetter } && text.contains("=")
  }

  /// The rule with a name; throws if there is none.
  static func rule(_ name: String, _ arguments: ParsedArguments) throws(UsageError) -> ODataGrammarRule {
    if let rule = ODataGrammarRule(name) { return rule }
    let nearest = Suggestion.nearest(to: name, among: ODataGrammarRule.all.map(\.name))
    throw arguments.usage(
      "--rule \(name): the grammar does not have this rule", hint: nearest.map { "Did you mean \($0)?" })
  }

  /// The version with a number; throws if there is none.
  static func version(_ text: String, _ arguments: ParsedArguments) throws(UsageError) -> ODataVersion {
    switch text {
    case "2", "2.0": return .v2
    case "3", "3.0": return .v3
    case "4", "4.0": return .v4
    case "4.01": return .v401
    default: throw arguments.usage("--odata-version \(text): the versions are 2.0, 3.0, 4.0 and 4.01")
    }
  }
}
