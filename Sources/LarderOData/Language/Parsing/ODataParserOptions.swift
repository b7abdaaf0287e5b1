/// The version and the limits of a parser.
public struct ODataParserOptions: Sendable, Hashable {
  /// The version whose language is read. 4.01 allows system query options without `$` and in any case, and operators
  /// and functions in any case; 4.0 and V2 require the spelling of the standard.
  public var version: ODataVersion
  /// The depth to which expressions, lists, options and paths may nest. Each level costs stack: a text uses at most 352
  /// kB of it, so that threads of 512 kB are safe, and for the first hundred levels everything but 160 kB of its
  /// thread's stack. If levels are costly (lambdas, above all in debug builds) and the thread's stack is small, the
  /// limit is lower than this.
  public var maxDepth: Int
  /// Whether `%41` means `A`, as in URLs; false for texts that are not encoded, in which `%` is a character.
  public var isPercentEncoded: Bool

  /// Creates options.
  public init(version: ODataVersion = .v401, maxDepth: Int = 100, isPercentEncoded: Bool = true) {
    self.version = version
    self.maxDepth = maxDepth
    self.isPercentEncoded = isPercentEncoded
  }
}
