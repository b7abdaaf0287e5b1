import LarderOData
import LarderStorage

// Paths in expressions, step by step (URL Conventions 4.01 §5.1.1.15).
extension ExpressionWriter {
  /// The place that a path leads to without its last `count` segments.
  func place(_ path: ODataBoundPath, without count: Int = 0) throws -> PathPlace {
    var place: PathPlace?
    switch path.root {
    case .implicit: place = environment.current.map { PathPlace(scope: $0) }
    case .it: place = environment.it.map { PathPlace(scope: $0) }
    case .this: place = environment.this.map { PathPlace(scope: $0) }
    case .variable(let name): place = environment.variables[name].map { PathPlace(scope: $0) }
    case .these: place = try these()
    case .root: break
    case .expression(let expression): place = try self.place(expression)
    }
    for segment in path.segments.dropLast(count) {
      if case .source(let source) = segment.kind {
        place = try begin(source)
      } else if let current = place {
        place = try step(segment, current)
      } else {
        throw OfflineODataError.unsupported(describe(segment.kind) + " at the beginning of a path in an expression")
      }
    }
    guard let place else { throw OfflineODataError.unsupported("a path without a start") }
    return place
  }

  /// The place of an expression's value, from which a path can continue.
  func place(_ expression: ODataBoundExpression) throws -> PathPlace {
    switch expression.kind {
    case .path(let path): return try place(path)
    case .cast(let operand, let type) where type.item.structure != nil && !type.isCollection:
      let start = try operand.map { try place($0) } ?? environment.current.map { PathPlace(scope: $0) }
      guard let start, let structure = type.item.structure else {
        throw OfflineODataError.unsupported("cast without an instance")
      }
      return try cast(start, to: structure)
    default: return PathPlace(scope: .value(try operand(expression)))
    }
  }

  /// Starts a path at the rows of an entity set or singleton.
  func begin(_ source: ODataNavigationSource, for use: ReadOutcome.Use = .list) throws -> PathPlace {
    guard let table = statement.context.plan.table(source.name) else {
      throw OfflineODataError.unsupported("'\(source.name)', which has no table in the store")
    }
    let alias = statement.context.alias()
    let scope = EntityScope(statement: statement, alias: alias, table: table, type: source.type)
    var rows = RelatedRows(tables: ["\(try statement.context.table(table.number)) AS \(alias: alias)"])
    let isLocal = statement.context.options.localRowsOnly && !statement.context.isChecking
    if isLocal { rows.conditions.append("\(try system(.state, of: scope)) & \(number: Int(LocalState.made)) <> 0") }
    try need(table, for: isLocal ? .listLocal : use)
    statement.reached[alias] = rows
    return PathPlace(rows: rows, scope: .entity(scope), isCollection: source.entitySet != nil)
  }

  func step(_ segment: ODataBoundSegment, _ place: PathPlace) throws -> PathPlace {
    switch segment.kind {
    case .property(let property): return try member(property.name, type: property.type, place)
    case .dynamic(let name): return try dynamic(name, type: segment.type ?? .init(.untyped, isNullable: true), place)
    case .computed(let name): return try computed(name, place)
    case .rollupNode(let number):
      guard let node = RollupNode(number).of(place.scope) else { break }
      return PathPlace(rows: place.rows, scope: node)
    case .navigation(let navigation): return try navigate(navigation, place)
    case .key(let parts): return try key(parts, place)
    case .cast(let structure): return try cast(place, to: structure)
    case .filter(let condition): return try filtered(place, condition)
    case .ordinal(let ordinal):
      guard place.isCollection, case .json(let json) = place.scope else { break }
      return PathPlace(rows: place.rows, scope: scope(of: json.item(ordinal)))
    case .value: return place
    case .aggregate(let item): return PathPlace(scope: .value(try aggregated(item, place)))
    case .annotation(let name, qualifier: nil):
      guard case .entity(let entity) = place.scope, let text = try state(name, of: entity) else { break }
      return PathPlace(
        rows: place.rows,
        scope: .value(
          SQLOperand(
            text: text.operand, storage: .boolean, type: ODataBoundType(.primitive(.boolean)),
            isNullable: place.rows != nil)))
    default: break
    }
    throw OfflineODataError.unsupported(describe(segment.kind) + " here")
  }

  /// The condition that an annotation of an entity's state is true; nil for other annotations.
  private func state(_ term: String, of entity: EntityScope) throws -> SQLText? {
    if term == DownloadMarks.term {
      return DownloadMarks.condition(
        entity.table, id: try system(.id, of: entity), state: try system(.state, of: entity))
    }
    return try LocalState.bit(of: term).map { "\(try system(.state, of: entity)) & \(number: $0) <> 0" }
  }

  // MARK: Properties

  private func member(_ name: String, type: ODataBoundType, _ place: PathPlace) throws -> PathPlace {
    let scope: Scope
    switch place.scope {
    case .entity(let entity):
      if let computedScope = entity.computed[name] {
        scope = computedScope
      } else {
        scope = try member([name], type, of: entity, nil)
      }
    case .complex(let complex): scope = try member(complex.path + [name], type, of: complex.owner, complex)
    case .json(let json): scope = self.scope(of: try json.member(name, type: type))
    case .row(let members):
      guard let computedScope = members[name] else { throw OfflineODataError.unsupported("'\(name)' after $apply") }
      scope = computedScope
    case .value: throw OfflineODataError.unsupported("'\(name)' on a primitive value")
    case .nested: throw OfflineODataError.unsupported("'\(name)' on a collection")
    }
    return PathPlace(rows: place.rows, scope: scope, isCollection: type.isCollection)
  }

  private func member(
    _ path: [String], _ type: ODataBoundType, of entity: EntityScope, _ complex: ComplexScope?
  ) throws -> Scope {
    guard let column = entity.table.column(path, on: entity.type) else {
      // A type with too many properties stores some of them among the undeclared ones.
      let name = path.last ?? ""
      let parentPath = Array(path.dropLast())
      guard let place = try undeclared(name, type, at: parentPath, of: entity) else {
        throw OfflineODataError.unsupported("'\(path.joined(separator: "/"))', which has no column in the store")
      }
      return place
    }
    if column.storage == .complex {
      return .complex(ComplexScope(owner: entity, path: path, type: type.item.structure))
    }
    if column.storage == .json {
      var place = JSONPlace.column(try reference(column, of: entity), type: type)
      if type.isCollection, let complex, let marker = entity.table.column(complex.path, on: entity.type) {
        // The parts of a complex value that is null are null (§5.1.1.15).
        place.base = .atom("CASE WHEN \(try reference(marker.name, of: entity)) IS NOT NULL THEN \(place.base) END")
      }
      place.base = try guarded(place.base, column: column, entity: entity, complex: complex)
      return scope(of: place)
    }
    let columnText = try reference(column, of: entity)
    let text = try guarded(columnText, column: column, entity: entity, complex: complex)
    let isBare = text == columnText && entity.statement === statement
    switch column.storage {
    case .stream:
      return .value(SQLOperand(text: text, storage: .stream, type: type))
    default:
      let isKey = entity.table.key.contains(column.number) && entity.guardedBy == nil
      return .value(
        SQLOperand(
          text: text, storage: column.storage, type: type, isNullable: !isKey, hasCollation: isBare,
          canBeNaN: column.storage == .real))
    }
  }

  /// Makes a value null if the row, or the complex value, is not of the type of a cast.
  private func guarded(
    _ text: SQLText, column: ReplicaColumn, entity: EntityScope, complex: ComplexScope?
  ) throws -> SQLText {
    var conditions: [SQLText] = []
    // In rows of other types the column is NULL, which must not be read as an empty collection.
    if let numbers = entity.guardedBy, column.type.isCollection || !isDeclared(column.declaringType, below: entity.type)
    {
      conditions.append(try typeCondition(numbers, entity))
    }
    if let complex, complex.isCast, let type = complex.type {
      conditions.append(try typeCondition(of: complex, type))
    }
    guard !conditions.isEmpty else { return text }
    return .atom("CASE WHEN \(SQLText.joined(conditions, " AND ")) THEN \(text) END")
  }

  private func isDeclared(_ declaring: EdmStructure, below type: EdmStructure) -> Bool {
    declaring.isOrDerives(from: type)
  }

  /// A column of a row, in this or an enclosing statement, for an expression that needs its value.
  func reference(_ column: ReplicaColumn, of entity: EntityScope) throws -> SQLText {
    try need(column, of: entity)
    return try reference(column.name, of: entity)
  }

  func reference(_ name: String, of entity: EntityScope) throws -> SQLText {
    try statement.imported(.atom("\(column: name, of: entity.alias)"), from: entity.statement)
  }

  /// The scope of a place in JSON, for the next segment of a path.
  func scope(of json: JSONPlace) -> Scope {
    if !json.type.isCollection, json.type.item.primitive != nil || json.type.storage == .enumeration {
      return .value(json.operand)
    }
    return .json(json)
  }

  // MARK: Undeclared and computed properties

  private func dynamic(_ name: String, type: ODataBoundType, _ place: PathPlace) throws -> PathPlace {
    switch place.scope {
    case .entity(let entity):
      if let computedScope = entity.computed[name] { return PathPlace(rows: place.rows, scope: computedScope) }
      if let scope = try undeclared(name, type, at: [], of: entity) {
        return PathPlace(rows: place.rows, scope: scope, isCollection: type.isCollection)
      }
    case .complex(let complex):
      if let scope = try undeclared(name, type, at: complex.path, of: complex.owner) {
        return PathPlace(rows: place.rows, scope: scope, isCollection: type.isCollection)
      }
    case .json(let json):
      return PathPlace(rows: place.rows, scope: scope(of: try json.member(name, type: type)))
    case .row(let members):
      if let computedScope = members[name] { return PathPlace(rows: place.rows, scope: computedScope) }
    case .value, .nested: break
    }
    throw OfflineODataError.unsupported("the undeclared property '\(name)'")
  }

  private func undeclared(
    _ name: String, _ type: ODataBoundType, at path: [String], of entity: EntityScope
  ) throws -> Scope? {
    let column = entity.table.columns.first { $0.storage == .dynamic && Array($0.path.dropLast()) == path }
    guard let column else { return nil }
    return scope(of: try JSONPlace(base: reference(column, of: entity), type: type).member(name, type: type))
  }

  private func computed(_ name: String, _ place: PathPlace) throws -> PathPlace {
    let computedScope: Scope? =
      switch place.scope {
      case .entity(let entity): entity.computed[name]
      case .row(let members): members[name]
      default: nil
      }
    guard let computedScope else { throw OfflineODataError.unsupported("the computed property '\(name)' here") }
    return try computedPlace(computedScope, place)
  }

  /// The place of a member that `$compute` or `$apply` has computed, after a segment that names it.
  func computedPlace(_ scope: Scope, _ place: PathPlace) throws -> PathPlace {
    switch scope {
    case .json(let json): return PathPlace(rows: place.rows, scope: scope, isCollection: json.type.isCollection)
    case .nested(let nested):
      let set = try NestedWriter(statement: statement, it: environment.it).rows(nested)
      var rows = place.rows ?? RelatedRows()
      rows.tables += set.rows.tables
      rows.conditions += set.rows.conditions
      return PathPlace(rows: rows, scope: set.scope, isCollection: true)
    default: return PathPlace(rows: place.rows, scope: scope)
    }
  }
}
