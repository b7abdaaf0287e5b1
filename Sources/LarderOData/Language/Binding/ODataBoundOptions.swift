/// Query options that were checked against their resource (URL Conventions 4.01 §5). Copies share their content until
/// one is changed.
package struct ODataBoundOptions: Sendable, Hashable {
  private var storage: Storage

  init(_ storage: Storage) { self.storage = storage }

  /// Creates empty options.
  package init() { self.init(Storage()) }

  /// Whether both have equal options.
  package static func == (left: ODataBoundOptions, right: ODataBoundOptions) -> Bool {
    left.storage === right.storage || left.storage.fields == right.storage.fields
  }

  /// Hashes all options.
  package func hash(into hasher: inout Hasher) { hasher.combine(storage.fields) }

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
  package var apply: [ODataBoundTransformation]? {
    get { storage.fields.apply }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.apply
    }
  }
  /// `$compute`
  package var compute: [ODataBoundCompute] {
    get { storage.fields.compute }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.compute
    }
  }
  /// `$filter`
  package var filter: ODataBoundExpression? {
    get { storage.fields.filter }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.filter
    }
  }
  /// `$search`
  package var search: ODataSearchExpression? {
    get { storage.fields.search }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.search
    }
  }
  /// `$orderby`
  package var orderBy: [ODataBoundOrderBy] {
    get { storage.fields.orderBy }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.orderBy
    }
  }
  /// `$select`; empty for all properties that the service sends by default.
  package var select: [ODataBoundSelectItem] {
    get { storage.fields.select }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.select
    }
  }
  /// `$expand`
  package var expand: [ODataBoundExpandItem] {
    get { storage.fields.expand }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.expand
    }
  }
  /// `$skip`
  package var skip: Int? {
    get { storage.fields.skip }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.skip
    }
  }
  /// `$top`
  package var top: Int? {
    get { storage.fields.top }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.top
    }
  }
  /// `$count`, in V2 `$inlinecount`.
  package var count: Bool? {
    get { storage.fields.count }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.count
    }
  }
  /// `$levels`
  package var levels: ODataLevels? {
    get { storage.fields.levels }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.levels
    }
  }
  /// `$index`
  package var index: Int? {
    get { storage.fields.index }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.index
    }
  }
  /// `$format`
  package var format: String? {
    get { storage.fields.format }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.format
    }
  }
  /// `$schemaversion`
  package var schemaVersion: String? {
    get { storage.fields.schemaVersion }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.schemaVersion
    }
  }
  /// `$skiptoken`
  package var skipToken: String? {
    get { storage.fields.skipToken }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.skipToken
    }
  }
  /// `$deltatoken`
  package var deltaToken: String? {
    get { storage.fields.deltaToken }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.deltaToken
    }
  }
  /// `$id`
  package var id: String? {
    get { storage.fields.id }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.id
    }
  }
  /// Options that OData does not define, except those that were a function's parameters.
  package var custom: [ODataCustomOption] {
    get { storage.fields.custom }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.custom
    }
  }
  /// The type of the instances that the options select from, after `$apply` and `$compute`.
  package var type: ODataBoundType? {
    get { storage.fields.type }
    _modify {
      let unique = uniqueStorage()
      yield &unique.fields.type
    }
  }
}
