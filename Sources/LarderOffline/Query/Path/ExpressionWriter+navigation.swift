import LarderOData
import LarderStorage

// Steps from row to row: navigation properties, keys, casts.
extension ExpressionWriter {
  func navigate(_ navigation: ODataDeclaredNavigation, _ place: PathPlace) throws -> PathPlace {
    switch place.scope {
    case .row(let members):
      if let computedScope = members[navigation.name] { return try computedPlace(computedScope, place) }
    case .entity(let entity):
      if let computedScope = entity.computed[navigation.name] { return try computedPlace(computedScope, place) }
    default: break
    }
    let (owner, path) = try self.owner(of: navigation.name, place.scope)
    var rows = place.rows ?? RelatedRows()
    let target = try related(path, of: owner, as: navigation.type.structure, &rows)
    return PathPlace(rows: rows, scope: .entity(target), isCollection: navigation.property.isCollection)
  }

  /// The entity that a navigation property belongs to, and the path of the property from there.
  func owner(of name: String, _ scope: Scope) throws -> (EntityScope, [String]) {
    switch scope {
    case .entity(let entity): return (entity, [name])
    case .complex(let complex): return (complex.owner, complex.path + [name])
    case .json:
      throw OfflineODataError.unsupported("the navigation property '\(name)' of a complex value in a collection")
    case .value, .row, .nested: throw OfflineODataError.unsupported("the navigation property '\(name)' here")
    }
  }

  /// Joins the rows that a navigation property leads to.
  func related(
    _ path: [String], of owner: EntityScope, as type: EdmStructure?, _ rows: inout RelatedRows
  ) throws -> EntityScope {
    let context = statement.context
    guard let navigation = owner.table.navigation(path, on: owner.type),
      context.plan.tables.indices.contains(navigation.target)
    else { throw OfflineODataError.unsupported("the navigation property '\(path.joined(separator: "/"))'") }
    guard rows.tables.count < RelatedRows.maximumTables else {
      throw OfflineODataError.unsupported("a path with this number of navigation properties")
    }
    let table = context.plan.tables[navigation.target]
    let alias = context.alias()
    let target = EntityScope(statement: statement, alias: alias, table: table, type: type ?? table.type)
    let before = (tables: rows.tables.count, conditions: rows.conditions.count)
    rows.tables.append("\(try context.table(table.number)) AS \(alias: alias)")
    if let numbers = owner.guardedBy { rows.conditions.append(try typeCondition(numbers, owner)) }
    try need(navigation, of: owner)
    try join(navigation.relation, owner: owner, target: target, rows: &rows)
    if let numbers = narrowingTypes(target.type, in: table) {
      rows.conditions.append(try typeCondition(numbers, target))
    }
    if owner.statement === statement, var reached = statement.reached[owner.alias] {
      reached.tables += rows.tables[before.tables...]
      reached.conditions += rows.conditions[before.conditions...]
      statement.reached[alias] = reached
    }
    return target
  }

  private func join(
    _ relation: ReplicaRelation, owner: EntityScope, target: EntityScope, rows: inout RelatedRows
  ) throws {
    switch relation {
    case .columns(let pairs):
      for pair in pairs {
        let there = try reference(target.table.columns[pair.target], of: target)
        let here = try reference(owner.table.columns[pair.source], of: owner)
        rows.conditions.append("\(there) = \(here)")
      }
    case .containment:
      rows.conditions.append(
        "\(try system(.parent, of: target)) = \(try system(.id, of: owner))")
    case .container:
      rows.conditions.append(
        "\(try system(.id, of: target)) = \(try system(.parent, of: owner))")
    case .links(let number, let isForward):
      let links = statement.context.alias("l")
      let (near, far): (SQLText, SQLText) = isForward ? ("source", "target") : ("target", "source")
      rows.tables.append("\(try statement.context.links(number)) AS \(alias: links)")
      rows.conditions.append("\(alias: links).\(near) = \(try system(.id, of: owner))")
      rows.conditions.append("\(try system(.id, of: target)) = \(alias: links).\(far)")
    }
  }

  /// A system column of a row.
  func system(_ column: SystemColumn, of entity: EntityScope) throws -> SQLText {
    try reference(column.rawValue, of: entity)
  }

  // MARK: Keys

  func key(_ parts: [ODataBoundKeyPart], _ place: PathPlace) throws -> PathPlace {
    guard case .entity(let entity) = place.scope, var rows = place.rows else {
      throw OfflineODataError.unsupported("a key here")
    }
    let first = rows.conditions.count
    for part in parts {
      // A key part that a referential constraint determines is already a condition of the join.
      guard let value = part.value else { continue }
      let path = part.part.path.map(\.name)
      guard let column = entity.table.column(path, on: entity.type) else {
        throw OfflineODataError.unsupported("the key property '\(part.part.name)', which has no column in the store")
      }
      let keyValue = SQLOperand(
        text: try reference(column, of: entity), storage: column.storage, type: part.part.property.type,
        isNullable: false, hasCollation: entity.statement === statement)
      rows.conditions.append(try compare(.equal, keyValue, try operand(value), wants: .truth).text)
    }
    if let former = try formerKey(parts, entity) {
      let same = SQLText.joined(Array(rows.conditions[first...]), " AND ")
      rows.conditions.replaceSubrange(first..., with: [.atom("(\(same) OR \(former))")])
    }
    return PathPlace(rows: rows, scope: place.scope)
  }

  /// The condition that a row had the key before the service assigned another; nil if no row has a former key.
  private func formerKey(_ parts: [ODataBoundKeyPart], _ entity: EntityScope) throws -> SQLText? {
    guard statement.context.state.hasFormerKeys, entity.statement === statement,
      let cells = try? ChangeWalk.key(parts, entity.table, statement.context.plan.model)
    else { return nil }
    let names = entity.table.key.map { entity.table.columns[$0].name }
    let key = EntityCells(Dictionary(zip(names, cells), uniquingKeysWith: { first, _ in first }))
    let text = LocalRows.keyText(key, entity.table)
    return """
      \(try system(.id, of: entity)) = (SELECT row FROM larder_local WHERE name = \(value: .text(entity.table.name)) \
      AND key = \(value: .text(text)))
      """
  }

  func filtered(_ place: PathPlace, _ condition: ODataBoundExpression) throws -> PathPlace {
    guard place.isCollection, var rows = place.rows, case .entity = place.scope else {
      throw OfflineODataError.unsupported("$filter on a collection of values in a path")
    }
    let inner = ExpressionWriter(statement: statement, environment: environment.on(place.scope))
    rows.conditions.append(try inner.condition(condition))
    return PathPlace(rows: rows, scope: place.scope, isCollection: true)
  }

  // MARK: Casts

  func cast(_ place: PathPlace, to structure: EdmStructure) throws -> PathPlace {
    var place = place
    switch place.scope {
    case .entity(var entity):
      guard let numbers = narrowingTypes(structure, in: entity.table, known: entity.type) else {
        if structure.isOrDerives(from: entity.type) { entity.type = structure }
        place.scope = .entity(entity)
        return place
      }
      entity.type = structure
      if place.rows != nil {
        place.rows?.conditions.append(try typeCondition(numbers, entity))
      } else {
        entity.guardedBy = numbers
      }
      place.scope = .entity(entity)
    case .complex(var complex):
      let isWider = complex.type?.isOrDerives(from: structure) ?? false
      complex.type = structure
      complex.isCast = complex.isCast || !isWider
      place.scope = .complex(complex)
    case .json(var json):
      if json.type.item.structure?.isOrDerives(from: structure) == true { break }
      let types = self.types(of: structure)
      if place.isCollection {
        json.onlyTypes = types
      } else {
        let object = json.json
        let isOfType = JSONPlace.isOf(types, object, declared: json.type)
        json = JSONPlace(base: .atom("CASE WHEN \(isOfType) THEN \(object) END"), type: json.type)
        json.type.item = .structure(structure)
      }
      place.scope = .json(json)
    case .value, .row, .nested: throw OfflineODataError.unsupported("a cast to \(structure.name) here")
    }
    return place
  }

  /// The numbers of a type and its derived types; nil if they include all rows of the table, or all rows of the `known`
  /// type.
  func narrowingTypes(_ type: EdmStructure, in table: EntityTable, known: EdmStructure? = nil) -> [Int]? {
    if let known, known.isOrDerives(from: type) { return nil }
    let numbers = table.typeNumbers(derivedFrom: type)
    return numbers.count == table.types.count ? nil : numbers
  }

  func typeCondition(_ numbers: [Int], _ entity: EntityScope) throws -> SQLText {
    let type = try system(.type, of: entity)
    guard !numbers.isEmpty else { return "0" }
    if numbers.count == 1 { return "\(type) = \(number: numbers[0])" }
    return .atom("\(type) IN (\(SQLText.joined(numbers.map { "\(number: $0)" }, ", ")))")
  }

  /// The names of a complex type and its derived types.
  func types(of type: EdmStructure) -> [String] {
    ComplexTypes(statement.context.plan.model).below(type).map(\.name)
  }

  /// The condition that a complex value is of a type. Its marker contains the name of the type, and is empty for the
  /// declared type.
  func typeCondition(of complex: ComplexScope, _ type: EdmStructure) throws -> SQLText {
    let owner = complex.owner
    guard let marker = owner.table.column(complex.path, on: owner.type), let name = marker.type.name,
      let declared = statement.context.plan.model.structure(name)
    else { throw OfflineODataError.unsupported("the type of '\(complex.path.joined(separator: "/"))'") }
    var names = types(of: type)
    if declared.isOrDerives(from: type) { names.append("") }
    let text = try reference(marker, of: owner)
    return .atom("\(text) IN (\(SQLText.joined(names.map { "\(value: .text($0))" }, ", ")))")
  }
}

/// The complex types of a model, by inheritance.
struct ComplexTypes {
  private let model: EdmModel

  init(_ model: EdmModel) { self.model = model }

  /// A type and all types that derive from it.
  func below(_ type: EdmStructure) -> [EdmStructure] {
    model.schemas.flatMap(\.complexTypes).compactMap { model.structure($0.qualifiedName) }
      .filter { $0.isOrDerives(from: type) }
  }
}
