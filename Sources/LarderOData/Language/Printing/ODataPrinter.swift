/// Writes trees of the language as text: minimal, always the same for the same tree. A parser of the same version reads
/// the text back to an equal tree.
///
/// - Parentheses are written only if precedence (URL Conventions 4.01 §5.1.1.17) demands them; white space only around
///   words.
/// - Options are written in the order in which a service evaluates them (Protocol 4.01 §11.2.1), with `$`, then aliases
///   and custom options in their order.
/// - Numbers have no superfluous digits, GUIDs are in lower case, durations and timestamps in their shortest form.
/// - Texts are quoted with their quotes doubled, and everything but letters, digits and a few harmless characters is
///   percent-encoded: no value can end its literal, its option or its path segment.
///
/// A tree that cannot be read back (an empty `and`, a name that is no identifier) throws an ``ODataPrintingError``.
/// Trees that differ only in the names and places of aliases print equally after ``canonical(_:)-(ODataURL)``.
public struct ODataPrinter: Sendable, Hashable {
  /// The version whose spelling is used.
  public var version: ODataVersion
  /// Whether the text is percent-encoded, as URLs are. If not, a character that needs encoding is an error.
  public var isPercentEncoded: Bool
  /// Whether a construct that the version lacks is an error. Parsers accept more than their version has, because
  /// clients send it (`contains` and `in` to V2, `substringof` and `1.5d` to V4, geo literals without an SRID). If this
  /// is false, such trees are printed as they are and read back equal. If it is true, numbers of V4 have no suffix:
  /// they read back as the smallest type that holds them.
  public var isStrict: Bool
  /// The depth to which trees may nest. Trees that a parser reads with its default limit are always within it.
  public var maxDepth: Int

  /// Creates a printer.
  public init(version: ODataVersion = .v401, isPercentEncoded: Bool = true, isStrict: Bool = true, maxDepth: Int = 300)
  {
    self.version = version
    self.isPercentEncoded = isPercentEncoded
    self.isStrict = isStrict
    self.maxDepth = maxDepth
  }

  /// Prints a URL: absolute if it has a service root, else relative to it.
  public func print(_ url: ODataURL) throws(ODataPrintingError) -> String {
    try text(.path) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.url(url) }
  }

  /// Prints the path of a resource, relative to the service's root.
  public func print(_ resourcePath: ODataPath) throws(ODataPrintingError) -> String {
    try text(.path) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.resourcePath(resourcePath) }
  }

  /// Prints the text after the `?` of a URL; empty if there are no options.
  public func print(_ options: ODataQueryOptions) throws(ODataPrintingError) -> String {
    try text(.query) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.queryOptions(options) }
  }

  /// Prints an expression, for example the value of `$filter=`.
  public func print(_ expression: ODataExpression) throws(ODataPrintingError) -> String {
    try text(.value) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.expression(expression) }
  }

  /// Prints the value of `$search=`.
  public func print(_ search: ODataSearchExpression) throws(ODataPrintingError) -> String {
    try text(.value) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.search(search) }
  }

  /// Prints the value of `$orderby=`.
  public func print(_ items: [ODataOrderByItem]) throws(ODataPrintingError) -> String {
    try text(.value) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.orderBy(items) }
  }

  /// Prints the value of `$compute=`.
  package func print(_ items: [ODataComputeItem]) throws(ODataPrintingError) -> String {
    try text(.value) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.compute(items) }
  }

  /// Prints the value of `$select=`.
  public func print(_ items: [ODataSelectItem]) throws(ODataPrintingError) -> String {
    try text(.value) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.select(items) }
  }

  /// Prints the value of `$expand=`.
  public func print(_ items: [ODataExpandItem]) throws(ODataPrintingError) -> String {
    try text(.value) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.expand(items) }
  }

  /// Prints the value of `$apply=`.
  package func print(_ transformations: [ODataTransformation]) throws(ODataPrintingError) -> String {
    try text(.value) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in try writer.apply(transformations) }
  }

  /// Prints the text after the `#` of a context URL.
  package func print(_ fragment: ODataContextFragment) throws(ODataPrintingError) -> String {
    try text(.fragment) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in
      try writer.contextFragment(fragment)
    }
  }

  private func text(
    _ place: SyntaxWriter.Place, _ write: (inout SyntaxWriter) throws(ODataPrintingError) -> Void
  ) throws(ODataPrintingError) -> String {
    var writer = SyntaxWriter(printer: self, place: place)
    try write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
