import LarderOData
import LarderService
import LarderStorage

/// Maps the names of a shape's members to what decoders read for them. It is created once for each query and serves all
/// rows.
@safe final class RowScope {
  let members: [Member]
  private let numbers: [String: Int]
  private var places: [ObjectIdentifier: KeyPlaces] = [:]
  // The keys of the container that was requested last, normally for the row before.
  @exclusivity(unchecked) private var latest: (type: ObjectIdentifier, places: KeyPlaces)?

  /// A member that a decoder can request by name.
  enum Member {
    case column(Int32, ColumnStorage, ODataBoundType)
    /// A complex value: its marker column, and its own members.
    case complex(Int32, RowScope)
    /// Related entities.
    case expand(RowExpand)
    /// Control information that is text: an ETag.
    case text(Int32)
    /// The entity-id.
    case id(ResultIdentity)
    /// The type, by type number.
    case typeName(Int32?, [String])

    /// The declared type, for messages.
    var declared: DeclaredType {
      switch self {
      case .column(_, _, let type): .bound(type)
      case .complex(_, let scope): .bound(scope.type)
      case .expand(let expand): .result(expand.type)
      case .text, .id, .typeName: .none
      }
    }
  }

  /// The column of undeclared properties. A name without a member is looked up there.
  let dynamic: Int32?
  /// By the number of a member, which type numbers have it; empty for all.
  let types: [[Bool]]
  let typeNumber: Int32?
  /// The declared type of the object.
  let type: ODataBoundType
  /// By the number of a member, the columns of ``ReadMember/presence`` and of its value.
  private(set) var presence: [Int: (column: Int32, value: Int32)] = [:]

  init(_ shape: ReadShape, place: ResultIdentity.Place, types: ResultTypes, depth: Int) {
    let count = shape.table?.types.count ?? 0
    let expands = shape.expands.map { ($0, RowExpand($0, types: types, depth: depth + 1)) }
    var all = RowScope.named(shape.members, count: count, below: [], expands)
    all += RowScope.named(expands, at: [], count: count)
    let identity = ResultIdentity(shape, place: place, form: types.form, types: types)
    for prefix in ["@odata.", "@"] {
      if let etag = shape.etag { all.append((prefix + "etag", .text(etag), [])) }
      if identity.canBuildURLs { all.append((prefix + "id", .id(identity), [])) }
      if let table = shape.table {
        all.append((prefix + "type", .typeName(shape.typeNumber, table.types.map { "#" + $0.name }), []))
      }
    }
    members = all.map(\.1)
    self.types = all.map(\.2)
    typeNumber = shape.typeNumber
    type = shape.type.map { ODataBoundType(.structure($0)) } ?? ODataBoundType(.untyped)
    numbers = Dictionary(all.indices.map { (all[$0].0, $0) }, uniquingKeysWith: { first, _ in first })
    dynamic = RowScope.dynamic(shape.members)
    note(shape.members)
  }

  private func note(_ members: [ReadMember]) {
    for member in members {
      guard let column = member.presence, let value = member.kind.value, let number = numbers[member.name] else {
        continue
      }
      presence[number] = (column, value)
    }
  }

  /// The members of a complex value, and what is expanded in it.
  init(
    members: [ReadMember], of type: ODataBoundType = ODataBoundType(.untyped), at path: [String] = [],
    _ expands: [(ReadExpand, RowExpand)] = []
  ) {
    self.type = type
    let all =
      RowScope.named(members, count: 0, below: path, expands) + RowScope.named(expands, at: path, count: 0)
    self.members = all.map(\.1)
    types = all.map(\.2)
    typeNumber = nil
    numbers = Dictionary(all.indices.map { (all[$0].0, $0) }, uniquingKeysWith: { first, _ in first })
    dynamic = RowScope.dynamic(members)
    note(members)
  }

  private static func named(
    _ members: [ReadMember], count: Int, below path: [String], _ expands: [(ReadExpand, RowExpand)]
  ) -> [(String, Member, [Bool])] {
    members.compactMap { member in
      let owners = ResultObject.flags(member.types, count: count)
      switch member.kind {
      case .column(let column, let storage): return (member.name, .column(column, storage, member.type), owners)
      case .complex(let marker, let inner):
        let scope = RowScope(members: inner, of: member.type, at: path + [member.name], expands)
        return (member.name, .complex(marker, scope), owners)
      case .dynamic, .link: return nil
      }
    }
  }

  /// The expanded navigation properties of the object at a path.
  private static func named(
    _ expands: [(ReadExpand, RowExpand)], at path: [String], count: Int
  ) -> [(String, Member, [Bool])] {
    expands.filter { Array($0.0.path.dropLast()) == path }.flatMap { expand, inner -> [(String, Member, [Bool])] in
      let owners = ResultObject.flags(expand.types, count: count)
      let isCounted = expand.plan.count != nil || inner.isCount
      let names = [inner.name] + (isCounted ? ["@odata.count", "@count"].map { inner.name + $0 } : [])
      return names.map { ($0, Member.expand(inner), owners) }
    }
  }

  private static func dynamic(_ members: [ReadMember]) -> Int32? {
    for member in members { if case .dynamic(let column, _) = member.kind { return column } }
    return nil
  }

  /// The number of the member with a name; nil if there is none.
  func number(_ name: String) -> Int? { numbers[name] }

  /// The position of the member with a number; `MemberPlace.none` for nil.
  func place(_ number: Int?) -> MemberPlace {
    guard let number else { return .none }
    guard case .column(let column, let storage, _) = members[number] else {
      return MemberPlace(number: Int32(truncatingIfNeeded: number), column: -1, storage: .dynamic)
    }
    return MemberPlace(number: Int32(truncatingIfNeeded: number), column: column, storage: storage)
  }

  /// The names of the members, in their order.
  var names: [String] { numbers.sorted { $0.value < $1.value }.map(\.key).filter { !$0.contains("@") } }

  /// The positions for a type of keys.
  @inline(__always)
  func places<Key: CodingKey>(of type: Key.Type) -> KeyPlaces {
    if let latest = unsafe latest, latest.type == ObjectIdentifier(type) { return latest.places }
    return makePlaces(type)
  }

  @inline(never)
  private func makePlaces<Key: CodingKey>(_ type: Key.Type) -> KeyPlaces {
    let keyPlaces = places[ObjectIdentifier(type)] ?? KeyPlaces(self, type)
    places[ObjectIdentifier(type)] = keyPlaces
    unsafe latest = (ObjectIdentifier(type), keyPlaces)
    return keyPlaces
  }
}

/// Related entities, for decoders.
final class RowExpand {
  let plan: ReadPlan
  let name: String
  let isCollection: Bool
  let isCount: Bool
  let sql: String
  let countSQL: String?
  /// Writes the entities as JSON, for types other than an array or one value.
  let written: ResultExpand
  /// The form of that JSON: V4, whatever the version of the service.
  let types: ResultTypes
  /// The declared type of the entities; a collection if there are many.
  let type: ValueType
  /// The members of the rows; nil for counts.
  let scope: RowScope?

  init(_ expand: ReadExpand, types: ResultTypes, depth: Int) {
    plan = expand.plan
    let form = ResultForm(version: .v4, serviceRoot: types.form.serviceRoot)
    self.types = ResultTypes(model: types.model, form: form)
    written = ResultExpand(expand, options: nil, typeCount: 0, types: self.types, depth: depth)
    name = expand.path.last ?? ""
    isCollection = expand.isCollection
    isCount = written.object == nil
    sql = written.sql
    countSQL = written.countSQL
    switch expand.plan.content {
    case .objects(let shape), .references(let shape):
      scope = RowScope(shape, place: ResultExpand.place(shape), types: types, depth: depth)
      let item = shape.type.map { ValueType.structure($0) } ?? .untyped
      type = expand.isCollection ? .collection(item) : item
    case .value, .count, .media: (scope, type) = (nil, .untyped)
    }
  }
}
