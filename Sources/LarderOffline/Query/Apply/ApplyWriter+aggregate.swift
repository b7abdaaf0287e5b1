import LarderOData
import LarderStorage

// `aggregate` (Data Aggregation 4.0 §3.2.1).
extension ApplyWriter {
  /// Returns one row for each group, or one row for all rows: its keys, and a value for each item.
  ///
  /// An item over related entities counts each of them once, so each such item is a statement of its own, joined by the
  /// keys.
  func aggregate(_ items: [ODataBoundAggregate], _ rows: ApplySet) throws -> ApplySet {
    var keys = Projection(statement)
    let there = try keys.row(rows.keys)
    let values = try items.map { try value($0, rows, keys) }
    var result = ApplySet(RowSet(rows: RelatedRows(), scope: .row([:])), core: keys.alias)
    var computedRow = ComputedRow()
    for (place, (item, value)) in zip(items, values).enumerated() {
      guard let name = item.name else { throw OfflineODataError.unsupported("aggregate without an alias") }
      var operand = value.operand
      operand.text = keys.reference(keys.columns.count + place)
      computedRow[name] = .value(operand)
      result.set.identity.append(OrderTerm(value: operand))
    }
    result.joins = keys.joins
    result.table(try AggregateParts(keys: keys, values: values).select(rows))
    result.set.scope = .row(computedRow)
    result.set.names = computedRow.names
    result.keys = there
    result.origin = rows.origin
    if !keys.columns.isEmpty {
      result.set.identity = keys.terms
    } else if items.isEmpty {
      result.set.identity = [
        OrderTerm(value: SQLOperand(text: keys.reference(0), storage: .integer, type: .plain(.int64)))
      ]
    }
    return result
  }

  // MARK: Items

  /// The value of an item of `aggregate`.
  private func value(_ item: ODataBoundAggregate, _ rows: ApplySet, _ keys: Projection) throws -> AggregateValue {
    if let last = item.from.last { return try stepwise(item, last, rows) }
    switch item.operand {
    case .custom(_, let name): throw OfflineODataError.unsupported("the custom aggregate '\(name)'")
    case .count(let path) where path.segments.isEmpty:
      return .direct(SQLAggregateCall.count("*").operand(item.type), isCount: true)
    case .count(let path): return try related(path, method: nil, type: item.type, rows: rows, keys: keys)
    case .expression(let expression):
      let method = try AggregateMethod(item.method)
      if case .path(let path) = expression.kind, !isOwn(path, method) {
        return try related(path, method: method, type: item.type, rows: rows, keys: keys)
      }
      let operand = try distinguishable(expression, rows)
      return .direct(method.call(operand).operand(item.type), isCount: method == .countdistinct)
    }
  }

  /// Whether the values belong to the rows themselves: the path has no collection, and no related entity that must
  /// count only once.
  private func isOwn(_ path: ODataBoundPath, _ method: AggregateMethod) -> Bool {
    let isSingle = path.segments.allSatisfy { $0.type?.isCollection != true }
    guard isSingle else { return false }
    return !path.segments.contains(where: \.isNavigating) || method != .sum && method != .average
  }

  /// The value of an expression, in a form in which values are equal if their texts are equal.
  private func distinguishable(_ expression: ODataBoundExpression, _ rows: ApplySet) throws -> SQLOperand {
    let writer = writer(rows.set.scope)
    guard case .path(let path) = expression.kind else { return try writer.operand(expression) }
    return try text(of: try writer.place(path), writer)
  }

  private func text(of place: PathPlace, _ writer: ExpressionWriter) throws -> SQLOperand {
    switch place.scope {
    case .complex, .row:
      guard let row = try RowParts(statement).row(of: place.scope) else { break }
      var parts = Projection(statement)
      _ = try parts.row(row)
      let all: SQLText = .atom("json_array(\(SQLText.joined(parts.columns.map(\.text), ", ")))")
      let text: SQLText = row.marker.map { .atom("CASE WHEN \($0) IS NOT NULL THEN \(all) END") } ?? all
      return SQLOperand(
        text: place.rows.map { $0.value(text) } ?? text, storage: .json, type: ODataBoundType(.untyped))
    case .entity(let entity) where place.rows == nil:
      return SQLOperand(text: try writer.system(.id, of: entity), storage: .integer, type: .plain(.int64))
    default: break
    }
    return try writer.value(of: place)
  }

  /// `value from properties with method`: the value for each group of the properties, then the method over these values
  /// (§3.2.1.5).
  private func stepwise(
    _ item: ODataBoundAggregate, _ last: ODataBoundAggregateFrom, _ rows: ApplySet
  ) throws -> AggregateValue {
    var inner = item
    inner.from.removeLast()
    inner.alias = "value"
    let method = try AggregateMethod(last.method)
    let groups = try group(by: last.properties, [.aggregate([inner])], rows)
    guard case .row(let computedRow) = groups.set.scope, case .value(let value)? = computedRow["value"] else {
      throw OfflineODataError.unsupported("the keyword from in aggregate")
    }
    var keys = Projection(statement)
    _ = try keys.row(groups.keys)
    let type: ODataBoundType =
      switch method {
      case .sum, .average: .plain(value.storage == .real ? .double : .decimal)
      case .countdistinct: .plain(.decimal)
      case .min, .max: value.type
      }
    let call = method.call(value)
    return .separate(
      keys.grouped(call.text, groups.set.rows.from()), call.operand(type), isCount: method == .countdistinct)
  }

  // MARK: Related entities

  /// The value of an item over related entities: finds the entities that a path leads to, each once in its group, then
  /// aggregates their values.
  private func related(
    _ path: ODataBoundPath, method: AggregateMethod?, type: ODataBoundType, rows: ApplySet, keys: Projection
  ) throws -> AggregateValue {
    var walk = try AggregateWalk(self, path, rows)
    try walk.finish()
    let joinedRows = walk.place.rows ?? RelatedRows()
    let tables = RelatedRows(
      tables: rows.set.rows.tables + joinedRows.tables, conditions: rows.set.rows.conditions + joinedRows.conditions)
    let writer = writer(rows.set.scope)
    var bare = walk.place
    bare.rows = nil
    let value = try method == nil && walk.isAtObject ? nil : text(of: bare, writer)
    // One row for each entity reached; `v` is its value.
    var columns = keys.distinctList
    for (place, part) in walk.identity.enumerated() { columns.append("\(part) AS i\(number: place)") }
    let countedValue = value?.collated ?? "1"
    columns.append("\(countedValue) AS v")
    let isOnce: SQLText = walk.entity == nil ? "" : "DISTINCT "
    var exists: SQLText?
    if let entity = walk.entity { exists = "\(entity) IS NOT NULL" }
    let inner: SQLText = "SELECT \(isOnce)\(SQLText.joined(columns, ", ")) \(tables.from(exists))"
    let alias = statement.context.alias("b")
    var operand = value ?? SQLOperand(text: "1", storage: .integer, type: .plain(.int64))
    operand.text = .atom("\(alias: alias).v")
    operand.hasCollation = false
    operand.literal = nil
    let call = method?.call(operand) ?? .count(operand.text)
    let select = keys.grouped(call.text, "FROM (\(inner)) AS \(alias: alias)", in: alias)
    return .separate(select, call.operand(type), isCount: method == nil || method == .countdistinct)
  }
}

/// Follows a path that may lead to several instances, and adds a row for each of them.
struct AggregateWalk {
  private let apply: ApplyWriter
  private let segments: [ODataBoundSegment]
  private let writer: ExpressionWriter
  private(set) var place: PathPlace
  /// The identity of the entity after the last navigation property, or the marker of a row: NULL if there is none. Nil if
  /// the path has no such property.
  private(set) var entity: SQLText?
  /// The columns that identify what the path leads to.
  private(set) var identity: [SQLText] = []

  init(_ apply: ApplyWriter, _ path: ODataBoundPath, _ rows: ApplySet) throws {
    switch path.root {
    case .implicit, .this: break
    default: throw OfflineODataError.unsupported("aggregate with a path that does not start with a property")
    }
    self.apply = apply
    segments = path.segments
    writer = apply.writer(rows.set.scope)
    place = PathPlace(scope: rows.set.scope)
  }

  mutating func finish() throws {
    for segment in segments {
      try spread()
      try check(segment)
      place = try writer.step(segment, place)
      if segment.isNavigating { try reach() }
    }
    try spread()
  }

  /// Throws if a segment leads to nested rows that were limited or created for each row: they cannot be joined to the
  /// row.
  private func check(_ segment: ODataBoundSegment) throws {
    guard let name = segment.propertyName else { return }
    let computedScope: Scope? =
      switch place.scope {
      case .entity(let entity): entity.computed[name]
      case .row(let row): row[name]
      default: nil
      }
    guard case .nested(let nested)? = computedScope, !nested.isPlain else { return }
    throw OfflineODataError.unsupported(
      "a path in aggregate through '\(name)', which nest or addnested computed with more than filter and compute")
  }

  /// Whether the path leads to objects, not values.
  var isAtObject: Bool {
    switch place.scope {
    case .entity, .row: true
    default: false
    }
  }

  /// Adds a row for each item of a collection in JSON.
  private mutating func spread() throws {
    guard place.isCollection, case .json = place.scope else { return }
    let (rows, item) = try writer.items(of: place)
    // The items are in the last table that was added.
    if let alias = rows.tables.last?.lastAlias { identity.append(.atom("\(alias: alias).fullkey")) }
    place = PathPlace(rows: rows, scope: item)
  }

  private mutating func reach() throws {
    switch place.scope {
    case .entity(let scope):
      let id = try writer.system(.id, of: scope)
      entity = id
      identity = [id]
    case .row(let row):
      // Rows without an identity are the same if all their parts are equal.
      var parts = Projection(apply.statement)
      _ = try parts.row(row)
      entity = row.marker ?? "''"
      identity = parts.collated
    default: break
    }
  }
}

extension ODataBoundSegment {
  /// Whether a segment leads to entities.
  var isNavigating: Bool {
    switch kind {
    case .navigation: true
    case .computed: type?.item.isEntity == true
    default: false
    }
  }
}

extension SQLText {
  /// The alias at the end of `… AS alias`.
  var lastAlias: String? { sql.split(separator: " ").last.map { String($0) } }
}
