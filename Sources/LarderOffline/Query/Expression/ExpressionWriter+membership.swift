import LarderOData
import LarderStorage

// `in` (URL Conventions 4.01 §5.1.1.1.12): a value equals one of several.
extension ExpressionWriter {
  func membership(
    _ left: ODataBoundExpression, _ right: ODataBoundExpression, wants: Wanted
  ) throws -> Condition {
    switch right.kind {
    case .list(let items), .array(let items): return try membership(left, items, wants)
    case .literal(.null): return Condition(text: .atom("0"))
    default: return try membership(left, in: right)
    }
  }

  private func membership(
    _ left: ODataBoundExpression, _ items: [ODataBoundExpression], _ wants: Wanted
  ) throws -> Condition {
    guard !items.isEmpty else { return Condition(text: .atom("0")) }
    guard !left.isNull else {
      return Condition(text: ExpressionWriter.chain(try items.map { try isNull($0, true).operand }, " OR "))
    }
    if let text = try plain(left, items) {
      let value = try operand(left)
      let isGuarded = wants == .value && value.isNullable
      return Condition(text: isGuarded ? "\(operand: text) IS TRUE" : text)
    }
    var parts: [SQLText] = []
    for item in items {
      let equal = try binary(.equal, left, item, wants: wants)
      parts.append((equal?.text ?? .atom("0")).operand)
    }
    return Condition(text: ExpressionWriter.chain(parts, " OR "))
  }

  /// `x IN (?, …)`; nil unless all items are literals in the form of the left side's values.
  private func plain(_ left: ODataBoundExpression, _ items: [ODataBoundExpression]) throws -> SQLText? {
    guard !left.type.isCollection, !left.type.item.isStructured else { return nil }
    let value = try operand(left)
    guard let storage = value.storage, !value.canBeNaN else { return nil }
    var parts: [SQLText] = []
    for item in items {
      switch item.kind {
      case .literal(let literal):
        guard literal != .null, let bound = SQLLiteral.value(literal, as: storage) else { return nil }
        parts.append(SQLText(bound))
      case .enumeration(_, let number) where storage == .enumeration: parts.append(SQLText(.integer(number)))
      default: return nil
      }
    }
    return "\(value.collated.operand) IN (\(SQLText.joined(parts, ", ")))"
  }

  /// The condition that a value is in a collection that the row contains.
  private func membership(_ left: ODataBoundExpression, in right: ODataBoundExpression) throws -> Condition {
    let alias = statement.context.alias("j")
    let collection: JSONPlace
    var rows = RelatedRows()
    if case .path(let path) = right.kind {
      let place = try place(path)
      guard case .json(let json) = place.scope, json.onlyTypes == nil else {
        throw OfflineODataError.unsupported("in with a collection of entities, or with a cast of one of values")
      }
      collection = json
      if let joinedRows = place.rows { rows = joinedRows }
    } else {
      collection = JSONPlace(base: try json(right), type: right.type)
    }
    rows.tables.append(collection.items(as: alias))
    let item = JSONPlace.operand(.atom("\(alias: alias).value"), type: right.type.single)
    let match: SQLText
    if left.isNull {
      match = "\(item.text) IS NULL"
    } else if left.type.isCollection || left.type.item.isStructured {
      match = .atom("larder_json_equal(\(item.text), \(try json(left)))")
    } else {
      match = try compare(.equal, item, try operand(left), wants: .truth).text
    }
    return Condition(text: .atom("EXISTS (SELECT 1 \(rows.from(match)))"))
  }
}
