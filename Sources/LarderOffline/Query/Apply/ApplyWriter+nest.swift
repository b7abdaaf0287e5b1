import LarderOData
import LarderStorage

// `nest` and `addnested` (Data Aggregation 4.0 §3.5.2, §3.4.3).
extension ApplyWriter {
  // MARK: nest

  /// Returns one row for all rows, or one for each group, with a collection for each sequence.
  func nest(_ sequences: [ODataBoundNested], _ rows: ApplySet) throws -> ApplySet {
    var (input, _) = try project(rows)
    input.statement = statement
    var result: ApplySet
    if rows.keys.isEmpty {
      let alias = statement.context.alias("a")
      let one = SQLOperand(text: .atom("\(alias: alias).c0"), storage: .integer, type: .plain(.int64))
      let tables = RelatedRows(tables: ["(SELECT 1 AS c0) AS \(alias: alias)"])
      result = ApplySet(RowSet(rows: tables, scope: .row([:])), core: alias)
      result.set.identity = [OrderTerm(value: one)]
    } else {
      result = try aggregate([], rows)
    }
    let keys = try keyColumns(result.keys)
    var computedRow = ComputedRow()
    for sequence in sequences {
      computedRow[sequence.alias] = .nested(
        NestedRows(origin: .rows(input, keys: keys), steps: sequence.transformations, source: rows.set.source))
    }
    result.set.scope = .row(computedRow)
    result.set.names = computedRow.names
    return result
  }

  /// The columns by which groups differ.
  func keyColumns(_ keys: ComputedRow) throws -> [SQLOperand] {
    var projection = Projection(statement)
    _ = try projection.row(keys)
    return projection.columns
  }

  // MARK: addnested

  /// Adds to the rows what sequences of transformations compute from related instances.
  func addNested(_ path: ODataBoundPath, _ sequences: [ODataBoundNested], _ rows: inout ApplySet) throws {
    switch path.root {
    case .implicit, .this: break
    default: throw OfflineODataError.unsupported("addnested with a path that does not start with a property")
    }
    let steps = path.segments.filter { $0.propertyName != nil }
    guard let step = steps.last, let name = step.propertyName else {
      throw OfflineODataError.unsupported("addnested with a cast and no property")
    }
    guard steps.count == 1 else {
      throw OfflineODataError.unsupported("addnested inside '\(steps.first?.propertyName ?? name)'")
    }
    if step.type?.isCollection == true {
      guard case .entity(let owner) = rows.set.scope, owner.computed[name] == nil, step.type?.item.isEntity == true
      else {
        throw OfflineODataError.unsupported(
          "addnested with the collection '\(name)', which does not lead to entities of the store")
      }
      for sequence in sequences {
        let nested = NestedRows(
          origin: .related(owner, path), steps: sequence.transformations, source: path.source)
        try add(.nested(nested), as: sequence.alias, &rows)
      }
      return
    }
    for sequence in sequences {
      let one = try single(path, name, &rows)
      try add(try transformed(one, sequence, &rows), as: sequence.alias, &rows)
    }
  }

  /// Joins the related instance to each row.
  private func single(_ path: ODataBoundPath, _ name: String, _ rows: inout ApplySet) throws -> Scope {
    let writer = writer(rows.set.scope)
    let place = try writer.place(path)
    switch place.scope {
    case .entity(let entity):
      guard let joinedRows = place.rows else { return place.scope }
      return .entity(try attached(joinedRows.value(try writer.system(.id, of: entity)), entity, &rows))
    case .complex(let complex) where place.rows == nil: return .row(try RowParts(statement).row(of: complex))
    case .row: return place.scope
    default: throw OfflineODataError.unsupported("addnested with '\(name)'")
    }
  }

  /// Applies a sequence to a single instance. The sequence may only add members to it (§3.4.3).
  private func transformed(
    _ scope: Scope, _ sequence: ODataBoundNested, _ rows: inout ApplySet
  ) throws -> Scope {
    var one = rows
    one.set.scope = scope
    one.set.names = []
    for step in sequence.transformations {
      switch step {
      case .identity: break
      case .compute(let items):
        try PlanWriter(statement: statement, it: it).compute(items, &one.set, inGroups: true)
      case .addNested(let path, let inner): try addNested(path, inner, &one)
      default:
        throw OfflineODataError(
          .malformedURL,
          "addnested on a single instance allows only identity, compute and addnested ('\(sequence.alias)')")
      }
    }
    rows.set.rows = one.set.rows
    rows.joins = one.joins
    return one.set.scope
  }

  private func add(_ computedScope: Scope, as alias: String, _ rows: inout ApplySet) throws {
    switch rows.set.scope {
    case .entity(var entity):
      entity.computed[alias] = computedScope
      if case .entity = computedScope { entity.inLine.insert(alias) }
      rows.set.scope = .entity(entity)
    case .row(var members):
      members[alias] = computedScope
      if case .entity = computedScope { members.inLine.insert(alias) }
      rows.set.scope = .row(members)
    default: throw OfflineODataError.unsupported("addnested here")
    }
    rows.set.names.append(alias)
  }
}
