/// Query options that were checked against their resource (URL Conventions 4.01 §5). Copies share their content until
/// one is changed.
public struct ODataBoundOptions: Sendable, Hashable {
  private var storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  /// Creates empty options.
  package init() { self.init(Storage()) }

  /// Whether both have equal options.
  public static func == (left: ODataBoundOptions, right: ODataBoundOptions) -> Bool {
    left.storage === right.storage || left.storage.fields == right.storage.fields
  }

  /// Hashes all options.
  public func hash(into hasher: inout Hasher) { hasher.combine(storage.fields) }

  /// The values of all options.
  struct Fields: Sendable, Hashable {
    var apply: [ODataBoundTransformation]?
    var compute: [ODataBoundCompute] = []
    var filter: ODataBoundExpression?
    var search: ODataSearchExpression?
    var orderBy: [ODataBoundOrderBy] = []
    var select: [ODataBoundSelectItem] = []
    var expand: [ODataBoundExpandItem] = []
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
    var custom: [ODataCustomOption] = []
    var type: ODataBoundType?
  }

  /// The content that copies share. Unchecked twice: it is changed only through ``uniqueStorage()``, while only one value
  /// refers to it, and accesses to that value are checked.
  final class Storage: @unchecked Sendable {
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields = Fields()) { self.fields = fields }
  }

  /// Returns the storage, copied first if another value shares it.
  private mutating func uniqueStorage() -> Storage {
    if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.fields) }
    return storage
  }
}

extension ODataBoundOptions {
  /// `$apply`
  public var apply: [ODataBoundTransformation]? {
    get { storage.fields.apply }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.apply
    }
  }
  /// `$compute`
  public var compute: [ODataBoundCompute] {
    get { storage.fields.compute }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.compute
    }
  }
  /// `$filter`
  public var filter: ODataBoundExpression? {
    get { storage.fields.filter }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.filter
    }
  }
  /// `$search`
  public var search: ODataSearchExpression? {
    get { storage.fields.search }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.search
    }
  }
  /// `$orderby`
  public var orderBy: [ODataBoundOrderBy] {
    get { storage.fields.orderBy }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.orderBy
    }
  }
  /// `$select`; empty for all properties that the service sends by default.
  public var select: [ODataBoundSelectItem] {
    get { storage.fields.select }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.select
    }
  }
  /// `$expand`
  public var expand: [ODataBoundExpandItem] {
    get { storage.fields.expand }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.expand
    }
  }
  /// `$skip`
  public var skip: Int? {
    get { storage.fields.skip }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.skip
    }
  }
  /// `$top`
  public var top: Int? {
    get { storage.fields.top }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.top
    }
  }
  /// `$count`, in V2 `$inlinecount`.
  public var count: Bool? {
    get { storage.fields.count }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.count
    }
  }
  /// `$levels`
  public var levels: ODataLevels? {
    get { storage.fields.levels }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.levels
    }
  }
  /// `$index`
  public var index: Int? {
    get { storage.fields.index }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.index
    }
  }
  /// `$format`
  public var format: String? {
    get { storage.fields.format }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.format
    }
  }
  /// `$schemaversion`
  public var schemaVersion: String? {
    get { storage.fields.schemaVersion }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.schemaVersion
    }
  }
  /// `$skiptoken`
  public var skipToken: String? {
    get { storage.fields.skipToken }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.skipToken
    }
  }
  /// `$deltatoken`
  public var deltaToken: String? {
    get { storage.fields.deltaToken }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.deltaToken
    }
  }
  /// `$id`
  public var id: String? {
    get { storage.fields.id }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.id
    }
  }
  /// Options that OData does not define, except those that were a function's parameters.
  public var custom: [ODataCustomOption] {
    get { storage.fields.custom }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.custom
    }
  }
  /// The type of the instances that the options select from, after `$apply` and `$compute`.
  public var type: ODataBoundType? {
    get { storage.fields.type }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.type
    }
  }
}
