import LarderOData
import LarderStorage

/// Writes a collection of primitive or complex values as one JSON text, with the query options that apply to it.
struct CollectionWriter {
  let statement: SelectStatement
  let environment: Environment

  /// The JSON of a value. `$filter`, `$orderby`, `$skip` and `$top` apply to the items of a collection, and complex
  /// values contain only the selected members.
  func text(_ place: JSONPlace, options: ODataBoundOptions?, _ selection: Selection) throws -> SQLText {
    let isPlain = selection.isAll && selection.items.isEmpty
    guard place.type.isCollection else {
      return isPlain ? place.json : try projected(place.json, selection)
    }
    let options = options ?? ODataBoundOptions()
    try rejectOptions(options)
    let isWhole =
      options.filter == nil && options.orderBy.isEmpty && options.top == nil && options.skip == nil && isPlain
      && place.onlyTypes == nil
    if isWhole { return place.json }
    let alias = statement.context.alias("j")
    let (rows, writer) = try items(place, options, alias)
    var item: SQLText = .atom("(\(operand: place.base) -> \(alias: alias).fullkey)")
    if !isPlain { item = try projected(item, selection) }
    let terms = try options.orderBy.map {
      OrderTerm(value: try writer.operand($0.expression), isDescending: $0.isDescending)
    }
    let order = SQLText.joined(terms.map(\.text) + ["\(alias: alias).key"], ", ")
    let limit = PlanWriter.limit(options.top ?? -1, options.skip)
    // LIMIT prevents SQLite from merging the subquery into the outer query, which would lose the order.
    return .atom(
      "CASE WHEN \(place.kind) = 'array' THEN (SELECT '[' || ifnull(group_concat(x, ','), '') || ']' FROM (SELECT \(item) AS x \(rows.from()) ORDER BY \(order)\(limit))) END"
    )
  }

  /// The statement that counts the items for `$count=true`.
  func count(_ place: JSONPlace, _ rows: RelatedRows, _ options: ODataBoundOptions) throws -> SQLText {
    var (items, _) = try items(place, options, statement.context.alias("j"))
    items.tables = rows.tables + items.tables
    items.conditions = rows.conditions + items.conditions
    return "SELECT count(*) \(items.from())"
  }

  private func items(
    _ place: JSONPlace, _ options: ODataBoundOptions, _ alias: String
  ) throws -> (RelatedRows, ExpressionWriter) {
    let outer = ExpressionWriter(statement: statement, environment: environment)
    let writer = ExpressionWriter(statement: statement, environment: environment.on(outer.item(of: place, alias)))
    var rows = RelatedRows(tables: [place.items(as: alias)])
    if let types = place.onlyTypes {
      rows.conditions.append(JSONPlace.isOf(types, .atom("\(alias: alias).value"), declared: place.type.single))
    }
    if let filter = options.filter { rows.conditions.append(try writer.condition(filter)) }
    return (rows, writer)
  }

  private func rejectOptions(_ options: ODataBoundOptions) throws {
    let rejected: [(Bool, String)] = [
      (options.apply != nil, "$apply"), (!options.compute.isEmpty, "$compute"), (options.search != nil, "$search"),
      (!options.expand.isEmpty, "$expand"), (options.skipToken != nil, "$skiptoken"), (options.index != nil, "$index"),
    ]
    if let (_, name) = rejected.first(where: { $0.0 }) {
      throw OfflineODataError.unsupported("\(name) on a collection of values")
    }
  }

  /// An object with only the selected members and its type annotation.
  private func projected(_ object: SQLText, _ selection: Selection) throws -> SQLText {
    guard !(selection.isAll && selection.items.isEmpty) else { return object }
    if selection.isAll { return object }
    var parts: [SQLText] = []
    var names: Set<String> = []
    for name in ["@odata.type"] + selection.items.map(\.name) where names.insert(name).inserted {
      guard !name.unicodeScalars.contains(where: { $0 == "\"" || $0 == "\\" || $0.value < 0x20 }) else {
        throw OfflineODataError.unsupported("a property name with quotes or control characters")
      }
      let path = SQLText(.text("$.\"\(name)\""))
      let member: SQLText = .atom("(\(operand: object) -> \(path))")
      let inner = try selection.inner(selection.items(name))
      let shown = inner.isAll || name == "@odata.type" ? member : try projected(member, inner)
      parts.append("ifnull(\(value: .text(",\"\(name)\":")) || \(shown), '')")
    }
    return .atom(
      "CASE WHEN json_type(\(object)) = 'object' THEN '{' || substr(\(SQLText.joined(parts, " || ")), 2) || '}' ELSE \(object) END"
    )
  }
}

/// Determines the bound types of columns.
struct ColumnTypes {
  private let model: EdmModel

  init(_ model: EdmModel) { self.model = model }

  func type(_ column: ReplicaColumn) -> ODataBoundType {
    let item: ODataBoundType.Item
    switch column.type.item {
    case .primitive(let type): item = .primitive(type)
    case .abstract(let type): item = type == .untyped ? .untyped : .abstract(type)
    case .named(let name):
      if let structure = model.structure(name) {
        item = .structure(structure)
      } else if let declared = model.enumType(name) {
        item = .enumeration(ODataDeclaredEnum(declared))
      } else {
        item = .undeclared(name)
      }
    case .collection: item = .untyped
    }
    return ODataBoundType(item, isCollection: column.type.isCollection, isNullable: column.property?.isNullable ?? true)
  }
}
