// The items of query options.

/// One item of `$compute`, and of `compute(…)` in `$apply`.
package struct ODataComputeItem: Sendable, Hashable {
  /// The expression.
  package var expression: ODataExpression
  /// The name of its value.
  package var alias: String
  /// The position of the name in the text.
  package var position: SourcePosition

  /// Creates an item.
  package init(_ expression: ODataExpression, as alias: String, at position: SourcePosition = .none) {
    self.expression = expression
    self.alias = alias
    self.position = position
  }
}

/// One item of `$orderby`.
public struct ODataOrderByItem: Sendable, Hashable {
  /// The value to order by.
  package var expression: ODataExpression
  /// `desc`
  package var isDescending: Bool

  /// Creates an item.
  package init(_ expression: ODataExpression, isDescending: Bool = false) {
    self.expression = expression
    self.isDescending = isDescending
  }
}

/// One item of `$select`.
public struct ODataSelectItem: Sendable, Hashable {
  /// The path. The parameter names of a function overload are ``ODataPathSegment/Kind/arguments(_:)`` of paths with one
  /// name each.
  package var path: ODataPath
  /// Options in parentheses.
  package var options: ODataQueryOptions

  /// Joins both.
  package init(_ path: ODataPath, options: ODataQueryOptions = ODataQueryOptions()) {
    self.path = path
    self.options = options
  }
}

/// One item of `$expand`.
public struct ODataExpandItem: Sendable, Hashable {
  /// The path, including the steps `$ref`, `$count`, `*` and `$value`.
  package var path: ODataPath
  /// Options in parentheses.
  package var options: ODataQueryOptions
  /// What `$select` names to read all properties of the Swift type; empty if there is no such type.
  var selection: [String] = []

  /// Joins both.
  package init(_ path: ODataPath, options: ODataQueryOptions = ODataQueryOptions()) {
    self.path = path
    self.options = options
  }
}

/// `$levels` (§5.1.3.3)
public enum ODataLevels: Sendable, Hashable {
  /// The given number of levels.
  case count(Int)
  /// As many as the service allows.
  case max
}

/// `@name=value`
package struct ODataAlias: Sendable, Hashable {
  /// The name without `@`.
  package var name: String
  /// Its value.
  package var value: ODataExpression
  /// The position in the text.
  package var position: SourcePosition

  /// Creates an alias.
  package init(name: String, value: ODataExpression, at position: SourcePosition = .none) {
    self.name = name
    self.value = value
    self.position = position
  }
}

/// An option that OData does not define, or a parameter of a function import.
public struct ODataCustomOption: Sendable, Hashable {
  /// The name, decoded.
  public var name: String
  /// The text after `=`, decoded; nil if there is no `=`.
  public var value: String?
  /// The position in the text.
  package var position: SourcePosition

  /// Creates a custom option.
  package init(name: String, value: String?, at position: SourcePosition = .none) {
    self.name = name
    self.value = value
    self.position = position
  }
}

/// `$search` (§5.1.7)
public indirect enum ODataSearchExpression: Sendable, Hashable {
  /// A word.
  case word(String)
  /// A text in double quotes.
  case phrase(String)
  /// `NOT`
  case not(ODataSearchExpression)
  /// All of two or more searches match.
  case and([ODataSearchExpression])
  /// One of two or more searches matches.
  case or([ODataSearchExpression])
  /// A text in single quotes: an incomplete search that is not parsed (ABNF `searchExpr-incomplete`).
  case incomplete(String)
}
