import LarderOData
import LarderStorage

// `any`, `all`, `$count` (URL Conventions 4.01 §5.1.1.13, §4.8).
extension ExpressionWriter {
  /// The condition of a lambda at the end of a path; nil if there is no lambda.
  func quantified(_ path: ODataBoundPath) throws -> Condition? {
    switch path.segments.last?.kind {
    case .any(let lambda):
      let (rows, predicate) = try lambdaRows(path, lambda, wants: .truth)
      return Condition(text: .atom("EXISTS (SELECT 1 \(rows.from(predicate?.text)))"))
    case .all(let lambda):
      let (rows, predicate) = try lambdaRows(path, lambda, wants: .value)
      guard let predicate else { return Condition(text: .atom("1")) }
      // A predicate that is null for an item is not true for it.
      let fails: SQLText =
        predicate.isNullable ? "\(operand: predicate.text) IS NOT TRUE" : .atom("(NOT \(operand: predicate.text))")
      return Condition(text: .atom("(NOT EXISTS (SELECT 1 \(rows.from(fails))))"))
    default: return nil
    }
  }

  private func lambdaRows(
    _ path: ODataBoundPath, _ lambda: ODataBoundLambda?, wants: Wanted
  ) throws -> (RelatedRows, Condition?) {
    let (rows, item) = try items(of: try place(path, without: 1))
    guard let lambda else { return (rows, nil) }
    var inner = environment
    inner.variables[lambda.variable] = item
    let writer = ExpressionWriter(statement: statement, environment: inner)
    return (rows, try writer.test(lambda.predicate, wants: wants))
  }

  /// The rows of a collection, and the scope of an item.
  func items(of place: PathPlace) throws -> (RelatedRows, Scope) {
    switch place.scope {
    case .entity:
      guard let rows = place.rows else { break }
      return (rows, place.scope)
    case .json(let json):
      var rows = place.rows ?? RelatedRows()
      let alias = statement.context.alias("j")
      rows.tables.append(json.items(as: alias))
      if let types = json.onlyTypes {
        rows.conditions.append(JSONPlace.isOf(types, .atom("\(alias: alias).value"), declared: json.type.single))
      }
      return (rows, item(of: json, alias))
    default: break
    }
    throw OfflineODataError.unsupported("the items of a value that is not stored as a collection")
  }

  /// The scope of an item that a row of `json_each` contains.
  func item(of json: JSONPlace, _ alias: String) -> Scope {
    let type = json.type.single
    let value: SQLText = .atom("\(alias: alias).value")
    if type.item.primitive != nil || type.storage == .enumeration {
      return .value(JSONPlace.operand(value, type: type))
    }
    if type.item.isStructured { return .json(JSONPlace(base: value, type: type)) }
    // If the item has no type, the row's value is JSON only if the item has members.
    return .json(JSONPlace(base: json.base, key: .atom("\(alias: alias).fullkey"), type: type))
  }

  /// `$count` at the end of a path, with `$filter` and `$search` if they are given.
  func counted(_ path: ODataBoundPath, _ options: ODataBoundOptions?) throws -> SQLOperand {
    let place = try place(path, without: 1)
    let type = ODataBoundType.plain(.int64, isNullable: false)
    var number: SQLText
    if case .json(let json) = place.scope, json.onlyTypes == nil, options?.filter == nil, options?.search == nil {
      number =
        json.isWhole ? .atom("json_array_length(\(json.base))") : .atom("json_array_length(\(json.base), \(json.path))")
      if let rows = place.rows { number = rows.value(number) }
      return SQLOperand(text: .atom("ifnull(\(number), 0)"), storage: .integer, type: type, isNullable: false)
    }
    var (rows, item) = try items(of: place)
    if let filter = options?.filter {
      var inside = environment.on(item)
      // In an option in parentheses, `$these` is the collection that the option applies to (Data Aggregation 4.0 §3.1).
      inside.these = nil
      if case .entity = item { inside.these = PathPlace(rows: rows, scope: item, isCollection: true) }
      let inner = ExpressionWriter(statement: statement, environment: inside)
      rows.conditions.append(try inner.condition(filter))
    }
    if let search = options?.search {
      guard case .entity(let entity) = item else {
        throw OfflineODataError.unsupported("$search on a collection of values")
      }
      rows.conditions.append(try SearchWriter(writer: self).condition(search, entity))
    }
    return SQLOperand(
      text: .atom("(SELECT count(*) \(rows.from()))"), storage: .integer, type: type, isNullable: false)
  }

  /// A complex value or collection as JSON.
  func json(_ expression: ODataBoundExpression) throws -> SQLText {
    switch expression.kind {
    case .path(let path):
      let place = try place(path)
      switch place.scope {
      case .json(let json) where json.onlyTypes != nil:
        throw OfflineODataError.unsupported("a cast of a collection as an operand")
      case .json(let json): return place.rows.map { $0.value(json.json) } ?? json.json
      case .complex: throw OfflineODataError.unsupported("eq and ne on complex values, except with null")
      case .entity: throw OfflineODataError.unsupported("a collection of entities as an operand")
      case .value(let value):
        return .atom("json_quote(\(place.rows.map { $0.value(value.text) } ?? value.text))")
      case .row, .nested: throw OfflineODataError.unsupported("a row as an operand")
      }
    default: return try operand(expression).text
    }
  }
}
