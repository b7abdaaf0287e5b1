/// The query options that are allowed only on some resources.
struct OptionKinds: OptionSet {
  let rawValue: UInt32

  static let apply = OptionKinds(rawValue: 1 << 0)
  static let compute = OptionKinds(rawValue: 1 << 1)
  static let filter = OptionKinds(rawValue: 1 << 2)
  static let search = OptionKinds(rawValue: 1 << 3)
  static let orderBy = OptionKinds(rawValue: 1 << 4)
  static let select = OptionKinds(rawValue: 1 << 5)
  static let expand = OptionKinds(rawValue: 1 << 6)
  static let skip = OptionKinds(rawValue: 1 << 7)
  static let top = OptionKinds(rawValue: 1 << 8)
  static let count = OptionKinds(rawValue: 1 << 9)
  static let levels = OptionKinds(rawValue: 1 << 10)
  static let index = OptionKinds(rawValue: 1 << 11)
  static let id = OptionKinds(rawValue: 1 << 12)

  static let structured: OptionKinds = [.compute, .select, .expand]
  static let ofCollections: OptionKinds = [.filter, .search, .orderBy, .skip, .top, .count, .index]

  /// The options that are set.
  init(_ options: ODataQueryOptions) {
    guard !options.isUntouched else {
      self = []
      return
    }
    var kinds: OptionKinds = []
    if options.apply != nil { kinds.insert(.apply) }
    if !options.compute.isEmpty { kinds.insert(.compute) }
    if options.filter != nil { kinds.insert(.filter) }
    if options.search != nil { kinds.insert(.search) }
    if !options.orderBy.isEmpty { kinds.insert(.orderBy) }
    if !options.select.isEmpty { kinds.insert(.select) }
    if !options.expand.isEmpty { kinds.insert(.expand) }
    if options.skip != nil { kinds.insert(.skip) }
    if options.top != nil { kinds.insert(.top) }
    if options.count != nil { kinds.insert(.count) }
    if options.levels != nil { kinds.insert(.levels) }
    if options.index != nil { kinds.insert(.index) }
    if options.id != nil { kinds.insert(.id) }
    self = kinds
  }

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The first option's name.
  func name(_ dialect: ODataDialect) -> String {
    let names = [
      "$apply", "$compute", "$filter", "$search", "$orderby", "$select", "$expand", "$skip", "$top",
      dialect == .v2 ? "$inlinecount" : "$count", "$levels", "$index", "$id",
    ]
    return names.indices.contains(rawValue.trailingZeroBitCount) ? names[rawValue.trailingZeroBitCount] : "the option"
  }

  /// The position of the first option, as far as its tree has one.
  func position(in options: ODataQueryOptions) -> SourcePosition? {
    switch OptionKinds(rawValue: 1 << UInt32(rawValue.trailingZeroBitCount)) {
    case .filter: options.filter?.position
    case .compute: options.compute.first?.expression.position
    case .orderBy: options.orderBy.first?.expression.position
    case .select: options.select.first?.path.position
    case .expand: options.expand.first?.path.position
    default: options.positions[self]
    }
  }

  /// The reason why the first option is not allowed: what it needs.
  var reason: String {
    switch OptionKinds(rawValue: 1 << UInt32(rawValue.trailingZeroBitCount)) {
    case .apply, .filter, .search, .orderBy, .skip, .top, .count, .index: "it needs a collection"
    case .compute, .select, .expand: "it needs an entity or a complex value"
    case .levels: "it is allowed in $expand, on a navigation property"
    default: "it needs $entity or $ref"
    }
  }
}
