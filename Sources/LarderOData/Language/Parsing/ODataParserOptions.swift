/// What a parser takes, and how much of it.
public struct ODataParserOptions: Sendable, Hashable {
  /// The version whose language is read. 4.01 takes system query options without `$` and in any case, and operators and
  /// functions in any case; 4.0 and V2 take them as they are spelt in the standard.
  public var version: ODataVersion
  /// How deeply expressions, lists, options and paths may nest. Each level costs stack: a text takes no more than 352 kB of it,
  /// so that threads of 512 kB are safe, and for the first hundred levels all but 160 kB of what its thread has. Where levels are
  /// costly (lambdas, above all in debug builds) and the thread is small, fewer are read than this.
  public var maxDepth: Int
  /// Whether `%41` means `A`, as in URLs; false for texts that are not encoded, in which `%` is a character.
  public var isPercentEncoded: Bool

  /// Makes options.
  public init(version: ODataVersion = .v401, maxDepth: Int = 100, isPercentEncoded: Bool = true) {
    self.version = version
    self.maxDepth = maxDepth
    self.isPercentEncoded = isPercentEncoded
  }
}
