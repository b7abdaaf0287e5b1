import LarderOData
import LarderStorage

/// Combines the values of groups: calls over the rows themselves, and separate statements that are joined to them.
struct AggregateParts {
  let keys: Projection
  let values: [AggregateValue]

  /// Selects a row for each group: the columns of the keys, then one column for each value.
  func select(_ rows: ApplySet) throws -> SQLText {
    if keys.columns.isEmpty { return singleRow(rows) }
    let isAlone = values.allSatisfy { if case .direct = $0 { true } else { false } }
    if isAlone, !rows.isThinned { return direct(rows) }
    return try joined(rows)
  }

  /// Selects a single row, even if there are no input rows.
  private func singleRow(_ rows: ApplySet) -> SQLText {
    var columns: [SQLText] = []
    var isOverRows = false
    for (place, value) in values.enumerated() {
      switch value {
      case .direct(let operand, _):
        columns.append("\(operand.text) AS \(alias: Projection.name(place))")
        isOverRows = true
      case .separate(let select, _, _): columns.append("(\(select)) AS \(alias: Projection.name(place))")
      }
    }
    if columns.isEmpty { return "SELECT 1 AS \(alias: Projection.name(0))" }
    let list = SQLText.joined(columns, ", ")
    return isOverRows ? "SELECT \(list) \(rows.set.rows.from())" : "SELECT \(list)"
  }

  /// Selects the keys, and the calls over the rows.
  private func direct(_ rows: ApplySet) -> SQLText {
    var columns = keys.list
    for (place, value) in values.enumerated() {
      guard case .direct(let operand, _) = value else { continue }
      columns.append("\(operand.text) AS \(alias: Projection.name(keys.columns.count + place))")
    }
    return
      "SELECT \(SQLText.joined(columns, ", ")) \(rows.set.rows.from()) GROUP BY \(SQLText.joined(keys.collated, ", "))"
  }

  /// Selects all groups, with the values that each statement has for them. A group that has lost its rows has no
  /// values.
  private func joined(_ rows: ApplySet) throws -> SQLText {
    let context = keys.context
    let (groupsAlias, directAlias) = (context.alias("m"), context.alias("m"))
    var columns = keys.columns.indices.map { place -> SQLText in
      "\(alias: groupsAlias).\(alias: Projection.name(place)) AS \(alias: Projection.name(place))"
    }
    var from: SQLText = "FROM (\(try groups(rows))) AS \(alias: groupsAlias)"
    let hasDirect = values.contains { if case .direct = $0 { true } else { false } }
    if hasDirect {
      from.append(" LEFT JOIN (\(direct(rows))) AS \(alias: directAlias) ON \(isSame(groupsAlias, directAlias))")
    }
    for (place, value) in values.enumerated() {
      let name = Projection.name(keys.columns.count + place)
      let aggregated: SQLText
      let isCount: Bool
      switch value {
      case .direct(_, let counts): (aggregated, isCount) = (.atom("\(alias: directAlias).\(alias: name)"), counts)
      case .separate(let select, _, let counts):
        let part = context.alias("m")
        from.append(" LEFT JOIN (\(select)) AS \(alias: part) ON \(isSame(groupsAlias, part))")
        (aggregated, isCount) = (.atom("\(alias: part).v"), counts)
      }
      // A count is 0, not NULL, if the group has no rows.
      columns.append(isCount ? "ifnull(\(aggregated), '0') AS \(alias: name)" : "\(aggregated) AS \(alias: name)")
    }
    return "SELECT \(SQLText.joined(columns, ", ")) \(from)"
  }

  /// Selects all groups: from the rows at the time of grouping, if groups may have lost their rows since.
  func groups(_ rows: ApplySet) throws -> SQLText {
    guard rows.isThinned, let origin = rows.origin.first else {
      return AggregateParts(keys: keys, values: []).direct(rows)
    }
    var before = Projection(keys.statement)
    _ = try before.row(origin.keys)
    return AggregateParts(keys: before, values: []).direct(origin)
  }

  private func isSame(_ first: String, _ second: String) -> SQLText {
    SQLText.joined(
      keys.columns.enumerated().map { place, column in
        let name = Projection.name(place)
        let left: SQLText = "\(alias: first).\(alias: name) IS \(alias: second).\(alias: name)"
        return column.storage?.collation.map { "\(left) COLLATE \(alias: $0)" } ?? left
      }, " AND ")
  }
}

extension Projection {
  /// The columns as the terms of an order.
  var terms: [OrderTerm] {
    columns.enumerated().map { place, column in
      var operand = column
      operand.text = reference(place)
      operand.hasCollation = false
      operand.literal = nil
      return OrderTerm(value: operand)
    }
  }

  /// The columns for DISTINCT, with collations, so that equal values are the same.
  var distinctList: [SQLText] {
    collated.enumerated().map { "\($0.element) AS \(alias: Projection.name($0.offset))" }
  }

  /// Selects the columns and a value `v` for each group. If `table` is given, it already has the columns.
  func grouped(_ value: SQLText, _ from: SQLText, in table: String? = nil) -> SQLText {
    var keyColumns = columns
    if let table {
      for place in keyColumns.indices {
        keyColumns[place].text = .atom("\(alias: table).\(alias: Projection.name(place))")
        keyColumns[place].hasCollation = false
      }
    }
    let list = keyColumns.enumerated().map { "\($0.element.text) AS \(alias: Projection.name($0.offset))" as SQLText }
    let select: SQLText = "SELECT \(SQLText.joined(list + ["\(value) AS v"], ", ")) \(from)"
    return keyColumns.isEmpty ? select : "\(select) GROUP BY \(SQLText.joined(keyColumns.map(\.collated), ", "))"
  }
}
