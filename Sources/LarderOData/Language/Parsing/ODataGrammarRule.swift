/// A rule of the standard's grammar (OData ABNF Construction Rules 4.01, those of Data Aggregation 4.0), by its name. A
/// text can be parsed by any of these rules.
package struct ODataGrammarRule: Sendable, CustomStringConvertible {
  /// The name as the standard spells it.
  package let name: String
  private let body: GrammarRules.Body

  /// Looks a rule up by its name, in any case; nil if there is none, or if the rule describes a part that has no
  /// meaning alone.
  package init?(_ name: String) {
    guard let rule = GrammarRules.folded[name.lowercased()] else { return nil }
    self = rule
  }

  init(name: String, body: GrammarRules.Body) {
    self.name = name
    self.body = body
  }

  /// All rules, sorted by name.
  package static let all: [ODataGrammarRule] = GrammarRules.folded.values.sorted { $0.name < $1.name }

  /// Parses a whole text by the rule.
  ///
  /// Rules for values outside of URLs (`dateValue`, `enumValue`, headers) read `%` as a character, whatever the options
  /// say. Rules for whole expressions (`filter`, `commonExpr`, `boolCommonExpr`) accept a `%` that encodes nothing,
  /// because filters are as often written unencoded as encoded.
  package func parse(
    _ text: String, options: ODataParserOptions = ODataParserOptions()
  ) throws(ODataSyntaxError) -> ODataSyntaxTree {
    switch body {
    case .inURL(let read):
      let isLenient = ["filter", "commonExpr", "boolCommonExpr"].contains(name)
      var reader = try SyntaxReader(text, options: options, isLenient: isLenient)
      return try reader.readToEnd(read)
    case .outside(let read):
      var options = options
      options.isPercentEncoded = false
      var reader = try SyntaxReader(text, options: options)
      return try reader.readToEnd(read)
    case .header(let rule):
      switch try rule.read(text) {
      case .header(let header): return .header(header)
      case .preference(let preference): return .preference(preference)
      case .annotations(let patterns): return .annotations(patterns)
      case .text(let text): return .text(text)
      }
    }
  }

  /// The name.
  package var description: String { name }
}

/// The table of rules.
enum GrammarRules {
  typealias Read = @Sendable (inout SyntaxReader) throws(ODataSyntaxError) -> ODataSyntaxTree

  /// The reading function of a rule, by the kind of text.
  enum Body: Sendable {
    /// A part of a URL: percent-encoding is decoded.
    case inURL(Read)
    /// A value outside of URLs.
    case outside(Read)
    /// A header or preference.
    case header(ODataHeaderRule)
  }

  /// The rules by lowercased name.
  struct Table {
    var rules: [String: ODataGrammarRule] = [:]

    mutating func add(_ name: String, _ body: Body) {
      rules[name.lowercased()] = ODataGrammarRule(name: name, body: body)
    }

    mutating func add(_ names: [String], _ read: @escaping Read) { for name in names { add(name, .inURL(read)) } }

    mutating func addOutside(_ names: [String], _ read: @escaping Read) {
      for name in names { add(name, .outside(read)) }
    }
  }

  /// All rules.
  static let folded: [String: ODataGrammarRule] = {
    var table = Table()
    addNames(to: &table)
    addPaths(to: &table)
    addSystemOptionRules(to: &table)
    addOptionListRules(to: &table)
    addItemRules(to: &table)
    addSearches(to: &table)
    addExpressions(to: &table)
    addMethods(to: &table)
    addOperators(to: &table)
    addLiterals(to: &table)
    addValues(to: &table)
    addAggregation(to: &table)
    addContexts(to: &table)
    addUris(to: &table)
    for rule in ODataHeaderRule.allCases { table.add(rule.rawValue, .header(rule)) }
    return table.rules
  }()

  /// Creates a reading function that returns the scanned text.
  static func text(
    _ scan: @escaping @Sendable (inout SyntaxReader) throws(ODataSyntaxError) -> Void
  ) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let start = reader.index
      try scan(&reader)
      return .text(reader.string(start..<reader.index))
    }
  }

  /// Creates a reading function for a value from its scanner.
  static func value(
    _ type: EdmPrimitiveType, _ scan: @escaping @Sendable (inout SyntaxReader) throws(ODataSyntaxError) -> Void
  ) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .value(try reader.value(type, scan)) }
  }
}
