/// Parses URLs of OData services, their parts, and expressions, into trees of names that are not looked up (URL
/// Conventions 4.01; V2 URI Conventions).
///
/// Every method reads the whole text or throws ``ODataSyntaxError`` with the position of the first byte that is not
/// allowed. Time is linear in the text, depth is limited by ``ODataParserOptions/maxDepth``.
public struct ODataParser: Sendable {
  /// The version and the limits.
  public var options: ODataParserOptions

  /// Creates a parser.
  public init(options: ODataParserOptions = ODataParserOptions()) { self.options = options }

  /// Creates a parser for a version.
  public init(_ version: ODataVersion) { self.init(options: ODataParserOptions(version: version)) }

  /// Parses a URL: absolute, an absolute path, or relative to the service's root.
  ///
  /// - Parameters:
  ///   - text: the URL.
  ///   - serviceRoot: `https://host/service/`, or its path, with a slash at the end. If the URL does not begin with it,
  ///     or it is nil, the root of a URL that is not relative is guessed, because the grammar does not define where the
  ///     service's part ends. The resource path begins at the first segment with parentheses or one of `$metadata`,
  ///     `$batch`, `$entity`, `$all`, `$crossjoin`; after a segment that ends with `.svc`; else at the name before
  ///     another segment with `$`; else at the last name.
  public func url(_ text: String, serviceRoot: String? = nil) throws(ODataSyntaxError) -> ODataURL {
    try read(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.url(serviceRoot: serviceRoot)
    }
  }

  /// Parses a URL relative to the service's root: path, and options after `?` (ABNF `odataRelativeUri`). Empty for the
  /// root itself.
  public func relativeURL(_ text: String) throws(ODataSyntaxError) -> ODataURL {
    try read(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.relativeURL(isRootAllowed: true)
    }
  }

  /// Parses the path of a resource, relative to the service's root, without options (ABNF `resourcePath`).
  public func path(_ text: String) throws(ODataSyntaxError) -> ODataPath {
    try read(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.resourcePath() }
  }

  /// Parses the text after `?` (ABNF `queryOptions`); an empty text has no options.
  public func queryOptions(_ text: String) throws(ODataSyntaxError) -> ODataQueryOptions {
    guard !text.isEmpty else { return ODataQueryOptions() }
    return try read(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.queryOptions(.url) }
  }

  /// Parses an expression (ABNF `commonExpr`).
  public func expression(_ text: String) throws(ODataSyntaxError) -> ODataExpression {
    try readTrimmed(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.expression() }
  }

  /// Parses the value of `$filter`.
  package func filter(_ text: String) throws(ODataSyntaxError) -> ODataExpression { try expression(text) }

  /// Parses the value of `$orderby`.
  package func orderBy(_ text: String) throws(ODataSyntaxError) -> [ODataOrderByItem] {
    try readTrimmed(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.orderByItems() }
  }

  /// Parses the value of `$select`.
  package func select(_ text: String) throws(ODataSyntaxError) -> [ODataSelectItem] {
    try readTrimmed(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.selectItems() }
  }

  /// Parses the value of `$expand`.
  package func expand(_ text: String) throws(ODataSyntaxError) -> [ODataExpandItem] {
    try readTrimmed(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.expandItems() }
  }

  /// Parses the value of `$compute`.
  package func compute(_ text: String) throws(ODataSyntaxError) -> [ODataComputeItem] {
    try readTrimmed(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.computeItems() }
  }

  /// Parses the value of `$search`.
  package func search(_ text: String) throws(ODataSyntaxError) -> ODataSearchExpression {
    try readTrimmed(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.searchExpression() }
  }

  /// Parses the value of `$apply`.
  package func apply(_ text: String) throws(ODataSyntaxError) -> [ODataTransformation] {
    try readTrimmed(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.transformations() }
  }

  /// Parses the text after `#` of a context URL (ABNF `contextFragment`).
  package func contextFragment(_ text: String) throws(ODataSyntaxError) -> ODataContextFragment {
    try read(text) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.contextFragment() }
  }

  private func read<Value>(
    _ text: String, _ rule: (inout SyntaxReader) throws(ODataSyntaxError) -> Value
  ) throws(ODataSyntaxError) -> Value {
    var reader = try SyntaxReader(text, options: options)
    return try reader.readToEnd(rule)
  }

  /// Reads the whole text; white space around it is ignored.
  private func readTrimmed<Value>(
    _ text: String, _ rule: (inout SyntaxReader) throws(ODataSyntaxError) -> Value
  ) throws(ODataSyntaxError) -> Value {
    var reader = try SyntaxReader(text, options: options)
    reader.skipSpace()
    let value = try rule(&reader)
    reader.skipSpace()
    guard reader.isAtEnd else { throw reader.error(.unexpected(expected: [])) }
    return value
  }
}
