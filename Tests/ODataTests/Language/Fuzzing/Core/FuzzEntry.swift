import OData

/// What a text is read as.
enum FuzzEntry: String, CaseIterable, Sendable {
  case url, relativeURL, path, queryOptions, expression, orderBy, select, expand, compute, search, apply,
    contextFragment
  /// Headers and their parts, which do not print.
  case header, preference, annotationsList
  /// Every rule of the grammar by itself; none prints.
  case everyRule

  /// The rules that read what does not print.
  private var rules: [ODataGrammarRule] {
    self == .everyRule ? ODataGrammarRule.all : ODataGrammarRule(rawValue).map { [$0] } ?? []
  }

  /// Reads a text; nil where it is refused. Else what the tree prints as.
  func printed(_ text: String, _ version: ODataVersion) throws -> String? {
    let parser = ODataParser(version)
    let printer = ODataPrinter(version: version)
    func read<Tree>(_ read: () throws(ODataSyntaxError) -> Tree) -> Tree? { try? read() }
    switch self {
    case .url: return try read { () throws(ODataSyntaxError) in try parser.url(text) }.map { try printer.print($0) }
    case .relativeURL:
      return try read { () throws(ODataSyntaxError) in try parser.relativeURL(text) }.map { try printer.print($0) }
    case .path: return try read { () throws(ODataSyntaxError) in try parser.path(text) }.map { try printer.print($0) }
    case .queryOptions:
      return try read { () throws(ODataSyntaxError) in try parser.queryOptions(text) }.map { try printer.print($0) }
    case .expression:
      return try read { () throws(ODataSyntaxError) in try parser.expression(text) }.map { try printer.print($0) }
    case .orderBy:
      return try read { () throws(ODataSyntaxError) in try parser.orderBy(text) }.map { try printer.print($0) }
    case .select:
      return try read { () throws(ODataSyntaxError) in try parser.select(text) }.map { try printer.print($0) }
    case .expand:
      return try read { () throws(ODataSyntaxError) in try parser.expand(text) }.map { try printer.print($0) }
    case .compute:
      return try read { () throws(ODataSyntaxError) in try parser.compute(text) }.map { try printer.print($0) }
    case .search:
      return try read { () throws(ODataSyntaxError) in try parser.search(text) }.map { try printer.print($0) }
    case .apply: return try read { () throws(ODataSyntaxError) in try parser.apply(text) }.map { try printer.print($0) }
    case .contextFragment:
      return try read { () throws(ODataSyntaxError) in try parser.contextFragment(text) }.map { try printer.print($0) }
    case .header, .preference, .annotationsList, .everyRule: return refusal(text, version) == nil ? text : nil
    }
  }

  /// Reads a text and forgets the tree; the error where it is refused.
  func refusal(_ text: String, _ version: ODataVersion) -> ODataSyntaxError? {
    let parser = ODataParser(version)
    do throws(ODataSyntaxError) {
      switch self {
      case .url: _ = try parser.url(text)
      case .relativeURL: _ = try parser.relativeURL(text)
      case .path: _ = try parser.path(text)
      case .queryOptions: _ = try parser.queryOptions(text)
      case .expression: _ = try parser.expression(text)
      case .orderBy: _ = try parser.orderBy(text)
      case .select: _ = try parser.select(text)
      case .expand: _ = try parser.expand(text)
      case .compute: _ = try parser.compute(text)
      case .search: _ = try parser.search(text)
      case .apply: _ = try parser.apply(text)
      case .contextFragment: _ = try parser.contextFragment(text)
      case .header, .preference, .annotationsList:
        for rule in rules { _ = try rule.parse(text, options: parser.options) }
      case .everyRule: return refusalElsewhere(text, parser.options)
      }
      return nil
    } catch {
      return error
    }
  }
}

extension FuzzEntry {
  /// The error of a rule that refuses a text at a place that is not its; nil where none does, as most refuse it.
  private func refusalElsewhere(_ text: String, _ options: ODataParserOptions) -> ODataSyntaxError? {
    for rule in rules {
      do throws(ODataSyntaxError) { _ = try rule.parse(text, options: options) } catch {
        if error.offset < 0 || error.offset > text.utf8.count { return error }
      }
    }
    return nil
  }
}

/// A text with what it is read as.
struct FuzzCase: Sendable {
  var entry: FuzzEntry
  var version: ODataVersion
  var text: String
}

/// What a fuzzer found.
struct FuzzFailure: Sendable, CustomStringConvertible {
  /// What should not be.
  var what: String
  var entry: FuzzEntry
  var version: ODataVersion
  var text: String
  /// A run with this seed meets it first.
  var seed: UInt64

  var description: String {
    "\(what)\n  \(entry.rawValue), \(version), seed \(seed):\n  \(text.prefix(2000).debugDescription)"
  }
}
