import LarderOData
import LarderStorage

/// Writes orders: `$orderby`, the terms that make the order total, and the position at which a `$skiptoken` continues.
struct OrderWriter {
  let writer: ExpressionWriter

  /// The terms of a total order, in which no two rows are equal.
  func terms(_ items: [ODataBoundOrderBy], _ set: RowSet) throws -> [OrderTerm] {
    var terms: [OrderTerm] = []
    for item in items {
      if item.expression.type.item.primitive == .binary {
        throw OfflineODataError.unsupported("$orderby of Edm.Binary")
      }
      terms.append(OrderTerm(value: try writer.operand(item.expression), isDescending: item.isDescending))
    }
    var texts = Set(terms.map(\.value.text))
    for term in set.order + (try identity(set)) where texts.insert(term.value.text).inserted { terms.append(term) }
    return terms
  }

  /// The terms that identify a row: an entity's key, ascending, as services order. An entity without a key uses its
  /// identity in the store.
  func identity(_ set: RowSet) throws -> [OrderTerm] {
    guard set.identity.isEmpty, case .entity(let entity) = set.scope else { return set.identity }
    return try identity(of: entity)
  }

  func identity(of entity: EntityScope) throws -> [OrderTerm] {
    let table = entity.table
    guard !table.key.isEmpty else {
      return [OrderTerm(value: integerOperand(try writer.system(.id, of: entity)))]
    }
    return try table.key.map { number in
      let column = table.columns[number]
      return OrderTerm(
        value: SQLOperand(
          text: try writer.reference(column, of: entity), storage: column.storage, type: .plain(.string),
          isNullable: false, hasCollation: true))
    }
  }

  private func integerOperand(_ text: SQLText) -> SQLOperand {
    SQLOperand(
      text: text, storage: .integer, type: .plain(.int64, isNullable: false), isNullable: false, hasCollation: true)
  }

  /// `ORDER BY …`
  static func clause(_ terms: [OrderTerm]) -> SQLText {
    " ORDER BY \(SQLText.joined(terms.map(\.text), ", "))"
  }

  // MARK: Next page

  /// The condition for the rows after a position: greater in the first term, or equal there and greater in the next,
  /// and so on.
  static func rowsAfter(_ values: [SQLValue], _ terms: [OrderTerm]) -> SQLText {
    var condition: SQLText?
    for (term, value) in zip(terms, values).reversed() {
      let column = term.value.collated.operand
      let isAfter = isStrictlyAfter(column, value, term)
      guard let rest = condition else {
        condition = isAfter ?? .atom("0")
        continue
      }
      let isEqual: SQLText = value == .null ? "\(column) IS NULL" : "\(column) = \(value: value)"
      let equal: SQLText = .atom("(\(isEqual) AND \(operand: rest))")
      condition = isAfter.map { .atom("(\($0) OR \(equal))") } ?? equal
    }
    guard let condition, let first = terms.first, let value = values.first, terms.count > 1, value != .null,
      !first.isDescending
    else { return condition ?? .atom("1") }
    // This is the start of a range, from which SQLite can read an index.
    return .atom("(\(first.value.collated.operand) >= \(value: value) AND \(condition))")
  }

  /// The condition that a row comes strictly after a value of one term; nil if no row does: after NULL in descending
  /// order.
  private static func isStrictlyAfter(_ column: SQLText, _ value: SQLValue, _ term: OrderTerm) -> SQLText? {
    switch (value, term.isDescending) {
    case (.null, false): "\(column) IS NOT NULL"
    case (.null, true): nil
    case (_, false): "\(column) > \(value: value)"
    case (_, true):
      term.value.isNullable
        ? .atom("(\(column) < \(value: value) OR \(column) IS NULL)") : "\(column) < \(value: value)"
    }
  }

  /// A digest of the order (FNV-1a). It is equal in every process, so that a token of another query is recognized.
  static func digest(_ items: [ODataBoundOrderBy], _ terms: [OrderTerm], of name: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ text: String) {
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      hash = (hash ^ 0xff) &* 0x100_0000_01b3
    }
    add(name)
    add(String(terms.count))
    var options = ODataBoundOptions()
    options.orderBy = items
    if let text = try? ODataPrinter(isStrict: false).print(options.syntax(.v4)) { add(text) }
    return hash
  }
}
