import LarderOData
import LarderStorage

/// Writes the properties of an entity that a result shows: their columns, and which types of the hierarchy have them.
struct MemberWriter {
  let shapes: ShapeWriter
  let entity: EntityScope

  private var statement: SelectStatement { shapes.statement }
  private var table: EntityTable { entity.table }

  /// The properties at a path, for all types that the entity may have.
  func members(_ selection: Selection, at path: [String]) throws -> [ReadMember] {
    var members: [ReadMember] = []
    var named = selection.names
    var dynamic: [ReplicaColumn] = []
    for column in table.columns where column.path.count == path.count + 1 && column.path.starts(with: path) {
      guard let name = column.path.last, let types = types(of: column) else { continue }
      if column.storage == .dynamic {
        dynamic.append(column)
        continue
      }
      let items = selection.items(name)
      guard selection.isAll || !items.isEmpty else { continue }
      named.remove(name)
      let kind = try kind(column, selection.isAll && items.isEmpty ? .all : try selection.inner(items), items)
      members.append(
        ReadMember(
          name: name, kind: kind, type: type(of: column),
          types: path.isEmpty ? narrowed(types, selection, items) : types,
          casts: path.isEmpty ? [] : casts(selection, items),
          presence: try shapes.writer.presence(of: column, entity),
          mayBeRaw: statement.context.state.hasRawValues && !table.key.contains(column.number)))
    }
    for column in dynamic {
      let undeclared = named.subtracting(entity.computed.keys)
      guard selection.isAll || !undeclared.isEmpty else { continue }
      let place = statement.column(try reference(column))
      members.append(
        ReadMember(
          name: "", kind: .dynamic(place, only: selection.isAll ? nil : undeclared),
          type: ODataBoundType(.untyped, isNullable: true), types: types(of: column) ?? nil,
          casts: path.isEmpty ? [] : casts(selection, selection.items.filter { undeclared.contains($0.name) })))
    }
    return members
  }

  /// A complex value whose parts are columns.
  func complex(_ complex: ComplexScope, name: String) throws -> ReadMember {
    guard let column = table.column(complex.path, on: entity.type) else {
      throw OfflineODataError.unsupported("'\(complex.path.joined(separator: "/"))'")
    }
    return ReadMember(name: name, kind: try kind(column, .all, []), type: type(of: column))
  }

  func complex(_ column: ReplicaColumn, _ selection: Selection, name: String) throws -> ReadMember {
    ReadMember(name: name, kind: try kind(column, selection, []), type: type(of: column))
  }

  private func reference(_ column: ReplicaColumn) throws -> SQLText {
    // The value is shown if the row has it, and omitted otherwise, so no check is needed.
    try shapes.writer.reference(column.name, of: entity)
  }

  private func kind(_ column: ReplicaColumn, _ selection: Selection, _ items: [Selection.Item]) throws
    -> ReadMember.Kind
  {
    let text = try reference(column)
    switch column.storage {
    case .complex:
      try rejectOptions(items)
      return .complex(statement.column(text), try members(selection, at: column.path))
    case .json:
      var place = JSONPlace.column(text, type: type(of: column))
      if place.type.isCollection, let isPresent = try shapes.writer.isPresent(column, entity) {
        // A property that the defining query left out is absent, not empty.
        place.base = .atom("ifnull(\(text), CASE WHEN \(isPresent) THEN '[]' END)")
      }
      let collectionOptions = try options(items, column)
      if collectionOptions != nil || !selection.isAll { try shapes.writer.needFitting(column, of: entity) }
      let shown = try CollectionWriter(statement: statement, environment: environment)
        .text(place, options: collectionOptions, selection)
      return .column(statement.column(shown), .json)
    default: return .column(statement.column(text), column.storage)
    }
  }

  private var environment: Environment {
    Environment(current: .entity(entity), it: shapes.it ?? .entity(entity), this: .entity(entity))
  }

  /// The options in parentheses after a collection.
  private func options(_ items: [Selection.Item], _ column: ReplicaColumn) throws -> ODataBoundOptions? {
    let optionSets = items.compactMap { $0.rest.isEmpty ? $0.options : nil }
    guard optionSets.count <= 1 else {
      throw OfflineODataError.unsupported("'\(column.path.joined(separator: "/"))' twice in $select with options")
    }
    return optionSets.first
  }

  /// Throws if a complex value has options other than `$select`.
  private func rejectOptions(_ items: [Selection.Item]) throws {
    for options in items.compactMap({ $0.rest.isEmpty ? $0.options : nil }) {
      var others = options
      others.select = []
      others.type = nil
      guard others == ODataBoundOptions() else {
        throw OfflineODataError.unsupported("options other than $select on a complex value in $select")
      }
    }
  }

  // MARK: Types

  /// The types that have a column: `.some(nil)` if all types that the entity may have do, nil if none does.
  private func types(of column: ReplicaColumn) -> Set<Int>?? {
    if entity.type.isOrDerives(from: column.declaringType) { return .some(nil) }
    guard column.declaringType.isOrDerives(from: entity.type) else { return nil }
    return .some(Set(table.typeNumbers(derivedFrom: column.declaringType)))
  }

  /// The types that remain after the casts in `$select`.
  private func narrowed(_ types: Set<Int>?, _ selection: Selection, _ items: [Selection.Item]) -> Set<Int>? {
    guard !selection.isAll, !items.isEmpty, !items.contains(where: { $0.cast == nil }) else { return types }
    let cast = Set(items.compactMap(\.cast).flatMap { table.typeNumbers(derivedFrom: $0) })
    if cast.count == table.types.count { return types }
    return types.map { $0.intersection(cast) } ?? cast
  }

  /// The types of a complex value to which `$select` restricts a member of it; empty for no restriction.
  private func casts(_ selection: Selection, _ items: [Selection.Item]) -> [EdmStructure] {
    let casts = items.compactMap(\.cast)
    return selection.isAll || casts.count < items.count ? [] : casts
  }

  private func type(of column: ReplicaColumn) -> ODataBoundType {
    ColumnTypes(statement.context.plan.model).type(column)
  }
}
