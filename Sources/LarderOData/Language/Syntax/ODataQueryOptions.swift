/// Query options of a URL, or of one item of `$expand`, `$select` or a `$count` segment (URL Conventions 4.01 §5).
///
/// An option that is not given is nil or empty. The order of options in the URL has no meaning and is not kept. Copies
/// share their content until one is changed.
public struct ODataQueryOptions: Sendable, Hashable {
  /// The content; nil if no option is set, as in most items.
  private var storage: Storage?

  /// Creates empty options.
  package init() {}

  /// Whether no option is set.
  public var isEmpty: Bool { storage.map { $0.fields == Fields() } ?? true }

  /// Whether no option was ever set, checked with one comparison.
  var isUntouched: Bool { storage == nil }

  /// Whether both have equal options.
  public static func == (left: ODataQueryOptions, right: ODataQueryOptions) -> Bool {
    left.storage === right.storage || (left.storage?.fields ?? Fields()) == (right.storage?.fields ?? Fields())
  }

  /// Hashes all options.
  public func hash(into hasher: inout Hasher) { hasher.combine(storage?.fields ?? Fields()) }
}

extension ODataQueryOptions {
  private struct Fields: Sendable, Hashable {
    var apply: [ODataTransformation]?
    var compute: [ODataComputeItem] = []
    var filter: ODataExpression?
    var search: ODataSearchExpression?
    var orderBy: [ODataOrderByItem] = []
    var select: [ODataSelectItem] = []
    var expand: [ODataExpandItem] = []
    var skip: Int?
    var top: Int?
    var count: Bool?
    var levels: ODataLevels?
    var index: Int?
    var format: String?
    var schemaVersion: String?
    var skipToken: String?
    var deltaToken: String?
    var id: String?
    var aliases: [ODataAlias] = []
    var custom: [ODataCustomOption] = []
    var positions = OptionPositions()
  }

  /// The content that copies share. Unchecked twice: it is changed only through ``uniqueStorage()``, while only one value
  /// refers to it, and accesses to that value are checked.
  private final class Storage: @unchecked Sendable {
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// Returns the storage, copied first if another value shares it.
  private mutating func uniqueStorage() -> Storage {
    if isKnownUniquelyReferenced(&storage), let storage { return storage }
    let unique = Storage(storage?.fields ?? Fields())
    storage = unique
    return unique
  }

  /// The positions of options that are not trees with positions of their own.
  var positions: OptionPositions {
    get { storage?.fields.positions ?? OptionPositions() }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.positions
    }
  }
}

extension ODataQueryOptions {
  /// `$apply`
  package var apply: [ODataTransformation]? {
    get { storage?.fields.apply }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.apply
    }
  }
  /// `$compute`
  package var compute: [ODataComputeItem] {
    get { storage?.fields.compute ?? [] }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.compute
    }
  }
  /// `$filter`
  public var filter: ODataExpression? {
    get { storage?.fields.filter }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.filter
    }
  }
  /// `$search`; in V2 SAP's `search`.
  public var search: ODataSearchExpression? {
    get { storage?.fields.search }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.search
    }
  }
  /// `$orderby`
  public var orderBy: [ODataOrderByItem] {
    get { storage?.fields.orderBy ?? [] }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.orderBy
    }
  }
  /// `$select`
  public var select: [ODataSelectItem] {
    get { storage?.fields.select ?? [] }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.select
    }
  }
  /// `$expand`
  public var expand: [ODataExpandItem] {
    get { storage?.fields.expand ?? [] }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.expand
    }
  }
  /// `$skip`
  public var skip: Int? {
    get { storage?.fields.skip }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.skip
    }
  }
  /// `$top`
  public var top: Int? {
    get { storage?.fields.top }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.top
    }
  }
  /// `$count`; in V2 `$inlinecount`.
  public var count: Bool? {
    get { storage?.fields.count }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.count
    }
  }
  /// `$levels`, of an `$expand` item.
  package var levels: ODataLevels? {
    get { storage?.fields.levels }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.levels
    }
  }
  /// `$index`
  package var index: Int? {
    get { storage?.fields.index }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.index
    }
  }
  /// `$format`
  public var format: String? {
    get { storage?.fields.format }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.format
    }
  }
  /// `$schemaversion`
  package var schemaVersion: String? {
    get { storage?.fields.schemaVersion }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.schemaVersion
    }
  }
  /// `$skiptoken`, opaque.
  public var skipToken: String? {
    get { storage?.fields.skipToken }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.skipToken
    }
  }
  /// `$deltatoken`, opaque; in V2 SAP's `!deltatoken`.
  public var deltaToken: String? {
    get { storage?.fields.deltaToken }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.deltaToken
    }
  }
  /// `$id`: a URL, absolute or relative.
  package var id: String? {
    get { storage?.fields.id }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.id
    }
  }
  /// `@alias=value`, in the URL's order.
  package var aliases: [ODataAlias] {
    get { storage?.fields.aliases ?? [] }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.aliases
    }
  }
  /// Custom options and the parameters of a function import without parentheses, in the URL's order, decoded.
  public var custom: [ODataCustomOption] {
    get { storage?.fields.custom ?? [] }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.custom
    }
  }
}

/// The positions of options, one for each kind. They do not affect equality.
struct OptionPositions: Sendable, Hashable {
  private var places = SIMD16<Int32>(repeating: -1)

  /// The position of the first of the options.
  subscript(kinds: OptionKinds) -> SourcePosition {
    get {
      let place = kinds.rawValue.trailingZeroBitCount
      return place < 16 && places[place] >= 0 ? SourcePosition(offset: Int(places[place])) : .none
    }
    set {
      let place = kinds.rawValue.trailingZeroBitCount
      if place < 16 { places[place] = newValue.offset.flatMap { Int32(exactly: $0) } ?? -1 }
    }
  }

  static func == (left: OptionPositions, right: OptionPositions) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}
