/// The places of query options, which determine the allowed options (ABNF section 2; URL Conventions 4.01 §5.1).
enum OptionPlace: Sendable, CaseIterable {
  /// After `?` of a resource's URL.
  case url
  /// After `?` of `$batch`.
  case batch
  /// After `?` of `$metadata` and of the service's root.
  case metadata
  /// After `?` of `$entity`.
  case entity
  /// After `?` of `$entity` with a cast.
  case entityCast
  /// An item of `$expand`.
  case expand
  /// An item of `$expand` that ends with `$ref`.
  case expandRef
  /// `$count` as the last step of an item of `$expand` or of a path in an expression.
  case expandCount
  /// `*` in `$expand`.
  case expandStar
  /// An item of `$select`.
  case select

  /// Whether options are joined by `;` inside parentheses.
  var isNested: Bool {
    switch self {
    case .url, .batch, .metadata, .entity, .entityCast: false
    case .expand, .expandRef, .expandCount, .expandStar, .select: true
    }
  }

  /// Whether `@name=value` is allowed.
  var allowsAliases: Bool { self == .url || self == .expand || self == .select }

  /// Whether a system query option is allowed here, in the dialect.
  func allows(_ option: SystemOption, dialect: ODataDialect) -> Bool {
    switch self {
    case .url: option != .levels && (dialect == .v4 || option.isInV2)
    case .batch, .metadata: option == .format
    case .entity: option == .format || option == .id
    case .entityCast: [.format, .id, .expand, .select].contains(option)
    case .expandStar: option == .levels
    case .expandCount: option == .filter || option == .search
    case .expandRef: OptionPlace.ofReferences.contains(option)
    case .select: OptionPlace.ofReferences.contains(option) || option == .compute || option == .select
    case .expand:
      OptionPlace.ofReferences.contains(option) || option.isTemporal
        || [.select, .expand, .compute, .levels, .apply].contains(option)
    }
  }

  private static let ofReferences: Set<SystemOption> = [.filter, .search, .orderby, .skip, .top, .count]

  /// The names of the allowed options.
  func allowed(dialect: ODataDialect) -> [String] {
    SystemOption.allCases.filter { allows($0, dialect: dialect) }.map { "$" + $0.rawValue }
  }
}

/// The system query options, by their names without `$`.
enum SystemOption: String, Sendable, CaseIterable {
  case filter, expand, select, orderby, top, skip, count, search, compute, apply, levels, index, format, schemaversion
  case skiptoken, deltatoken, id
  /// `$count` of V2 and V3.
  case inlinecount
  /// The options of the extension for temporal data.
  case at, from, to, toInclusive

  /// Whether 4.01 accepts the option's name without `$` (Protocol §11.2.1 excepts the two tokens, which only services
  /// create).
  var mayLackDollar: Bool {
    switch self {
    case .skiptoken, .deltatoken, .inlinecount, .at, .from, .to, .toInclusive: false
    default: true
    }
  }

  /// Whether the option belongs to the extension for temporal data.
  var isTemporal: Bool { [.at, .from, .to, .toInclusive].contains(self) }

  /// Whether V2 and V3 have it.
  var isInV2: Bool {
    switch self {
    case .filter, .expand, .select, .orderby, .top, .skip, .format, .skiptoken, .inlinecount: true
    default: false
    }
  }

  private static let exact = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
  private static let folded = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

  /// The option with a name without `$`.
  static func named(_ name: String, anyCase: Bool) -> SystemOption? {
    exact[name] ?? (anyCase ? folded[name.lowercased()] : nil)
  }
}
