import LarderOData
import LarderStorage

/// Writes the plan of the resource that a URL's path identifies (URL Conventions 4.01 §4).
struct ResourceWriter {
  let statement: SelectStatement

  init(_ context: QueryContext) throws { statement = try SelectStatement(context) }

  private var writer: ExpressionWriter { ExpressionWriter(statement: statement, environment: Environment()) }

  func plan(_ path: ODataBoundPath, _ options: ODataBoundOptions, cast: EdmStructure? = nil) throws -> ReadPlan {
    try planned(path, options, cast: cast).addingChecks(statement)
  }

  private func planned(_ path: ODataBoundPath, _ options: ODataBoundOptions, cast: EdmStructure?) throws -> ReadPlan {
    if case .crossjoin(let sources)? = path.segments.first?.kind { return try crossjoin(sources, path, options) }
    let (body, last) = ResourceWriter.ending(path)
    var (place, owner) = try walk(body)
    if let cast { place = try writer.cast(place, to: cast) }
    switch last {
    case .count?: return try counted(place, options, owner)
    case .ref?: return try rows(place, path: path, options: options, as: .references, owner: owner)
    case .value?: return try raw(place, path, options)
    default: return try resource(place, path: path, options: options, owner: owner)
    }
  }

  /// Splits the path into the path itself and a last `$count`, `$ref` or `$value`.
  private static func ending(_ path: ODataBoundPath) -> (ODataBoundPath, ODataBoundSegment.Kind?) {
    var body = path
    switch path.segments.last?.kind {
    case .count?, .ref?, .value?:
      let last = body.segments.removeLast()
      return (body, last.kind)
    default: return (path, nil)
    }
  }

  /// The rows at the end of a path.
  func place(_ path: ODataBoundPath) throws -> PathPlace { try walk(path).0 }

  /// Follows all segments. Also returns the statement that counts the rows that the path goes through before a last
  /// navigation property.
  private func walk(_ path: ODataBoundPath) throws -> (PathPlace, ReadCount?) {
    var place: PathPlace?
    var owner: ReadCount?
    var needed = 0
    for (number, segment) in path.segments.enumerated() {
      let isFinding = path.segments.dropFirst(number + 1).first { !$0.isCast }?.isKey == true
      if !segment.isCast, !segment.isKey { needed = statement.checks.count }
      if case .source(let source) = segment.kind {
        place = try writer.begin(source, for: isFinding ? .find : .list)
        continue
      }
      guard let current = place else { throw OfflineODataError.unsupported(describe(segment.kind)) }
      if case .entity(let entity) = current.scope { statement.reached[entity.alias] = current.rows }
      switch segment.kind {
      case .navigation: owner = current.rows.map { ReadCount("SELECT count(*) \($0.from())") }
      case .cast, .filter: break
      default: owner = nil
      }
      var next = try writer.step(segment, current)
      // A value of another type than the cast has no members of that type, so the path leads nowhere.
      if !segment.isCast, case .complex(let complex) = current.scope, complex.isCast, let type = complex.type {
        next.rows?.conditions.append(try writer.typeCondition(of: complex, type))
      }
      place = next
      if segment.isKey, let rows = next.rows { statement.need(rows, insteadOf: needed) }
    }
    guard let place else { throw OfflineODataError.unsupported("the service's root as a resource") }
    return (place, owner)
  }

  // MARK: Resources

  private func resource(
    _ place: PathPlace, path: ODataBoundPath, options: ODataBoundOptions, owner: ReadCount?
  ) throws -> ReadPlan {
    guard let rows = place.rows else { throw OfflineODataError.unsupported("a path without a start") }
    switch place.scope {
    case .entity: return try self.rows(place, path: path, options: options, as: .objects, owner: owner)
    case .value(let value) where value.storage == .stream: return try stream(path)
    case .value(let value):
      return try self.value(ResourceWriter.name(path), value, rows, isRaw: false)
    case .json(let json): return try self.json(json, rows: rows, path: path, options: options)
    case .complex(let complex): return try self.complex(complex, rows: rows, path: path, options: options)
    case .row, .nested: throw OfflineODataError.unsupported("a row as a resource")
    }
  }

  private static func name(_ path: ODataBoundPath) -> String {
    for segment in path.segments.reversed() {
      switch segment.kind {
      case .property(let property): return property.name
      case .dynamic(let name), .computed(let name): return name
      default: continue
      }
    }
    return "value"
  }

  private func rows(
    _ place: PathPlace, path: ODataBoundPath, options: ODataBoundOptions, as resultKind: PlanWriter.ResultKind,
    owner: ReadCount?
  ) throws -> ReadPlan {
    guard case .entity = place.scope, let rows = place.rows else {
      throw OfflineODataError.unsupported("$ref on rows that are not entities")
    }
    let set = RowSet(rows: rows, scope: place.scope, source: path.source, isSingle: !place.isCollection)
    return try PlanWriter(statement: statement, it: nil).plan(set, options, as: resultKind, owner: owner)
  }

  private func counted(_ place: PathPlace, _ options: ODataBoundOptions, _ owner: ReadCount?) throws -> ReadPlan {
    guard let rows = place.rows else { throw OfflineODataError.unsupported("$count without a resource") }
    switch place.scope {
    case .entity:
      let set = RowSet(rows: rows, scope: place.scope)
      return try PlanWriter(statement: statement, it: nil).plan(set, options, as: .count, owner: owner)
    case .json(let json) where json.type.isCollection:
      guard options.search == nil, options.apply == nil else {
        throw OfflineODataError.unsupported("$search and $apply on a collection of values")
      }
      // The owner's row must exist: without it there is no such resource.
      let collection = CollectionWriter(statement: statement, environment: Environment())
      let number = try collection.count(json, RelatedRows(), options).operand
      return ReadPlan(
        try SQLText("SELECT \(number) \(rows.from())").checked(), .count, isSingle: true,
        owner: ReadCount("SELECT count(*) \(rows.from())"))
    default: throw OfflineODataError.unsupported("$count of a value that is not a collection")
    }
  }

  // MARK: Values

  private func value(_ name: String, _ value: SQLOperand, _ rows: RelatedRows, isRaw: Bool) throws -> ReadPlan {
    let member = try ShapeWriter(statement: statement, it: nil).member(name, .value(value))
    return ReadPlan(
      try SQLText.select(statement.columns, rows), .value(member, isRaw: isRaw), isSingle: true)
  }

  private func json(
    _ json: JSONPlace, rows: RelatedRows, path: ODataBoundPath, options: ODataBoundOptions
  ) throws -> ReadPlan {
    if !json.type.isCollection { try rejectOptions(options, besides: { $0.select = [] }) }
    let writer = CollectionWriter(statement: statement, environment: Environment())
    let selection = try Selection(options.select, path: [])
    let text = try writer.text(json, options: options, selection)
    let total = options.count == true ? ReadCount(try writer.count(json, rows, options)) : nil
    let member = ReadMember(
      name: ResourceWriter.name(path), kind: .column(statement.column(text), .json), type: json.type)
    let sql = try SQLText.select(statement.columns, rows)
    return ReadPlan(sql, .value(member, isRaw: false), isSingle: true, count: total)
  }

  private func complex(
    _ complex: ComplexScope, rows: RelatedRows, path: ODataBoundPath, options: ODataBoundOptions
  ) throws -> ReadPlan {
    try rejectOptions(options, besides: { $0.select = [] })
    guard let column = complex.owner.table.column(complex.path, on: complex.owner.type) else {
      throw OfflineODataError.unsupported("'\(complex.path.joined(separator: "/"))'")
    }
    try writer.need(column, of: complex.owner)
    var rows = rows
    if complex.isCast, let type = complex.type { rows.conditions.append(try writer.typeCondition(of: complex, type)) }
    let shapes = ShapeWriter(statement: statement, it: nil)
    let member = try MemberWriter(shapes: shapes, entity: complex.owner)
      .complex(column, try Selection(options.select, path: []), name: ResourceWriter.name(path))
    return ReadPlan(
      try SQLText.select(statement.columns, rows), .value(member, isRaw: false), isSingle: true)
  }

  /// A single value takes few options; others are rejected by name.
  private func rejectOptions(_ options: ODataBoundOptions, besides: (inout ODataBoundOptions) -> Void) throws {
    var others = options
    besides(&others)
    let rejected: [(Bool, String)] = [
      (others.filter != nil, "$filter"), (!others.orderBy.isEmpty, "$orderby"), (others.apply != nil, "$apply"),
      (!others.compute.isEmpty, "$compute"), (others.search != nil, "$search"), (!others.expand.isEmpty, "$expand"),
      (others.skip != nil, "$skip"), (others.top != nil, "$top"), (others.count == true, "$count"),
    ]
    if let (_, name) = rejected.first(where: { $0.0 }) {
      throw OfflineODataError.unsupported("\(name) on a single value")
    }
  }

  /// `/$value`: a primitive value as text, the bytes of a media entity or stream.
  private func raw(_ place: PathPlace, _ path: ODataBoundPath, _ options: ODataBoundOptions) throws -> ReadPlan {
    guard let rows = place.rows else { throw OfflineODataError.unsupported("$value without a resource") }
    switch place.scope {
    case .entity:
      guard !place.isCollection else { throw OfflineODataError.unsupported("$value of a collection") }
      return try self.rows(place, path: path, options: options, as: .media, owner: nil)
    case .value(let value) where value.storage == .stream: return try stream(path)
    case .value(let value): return try self.value(ResourceWriter.name(path), value, rows, isRaw: true)
    case .json(let json) where !json.type.isCollection && !json.type.item.isStructured:
      let value = SQLOperand(text: json.scalar, storage: .string, type: json.type)
      return try self.value(ResourceWriter.name(path), value, rows, isRaw: true)
    default: throw OfflineODataError.unsupported("$value of a complex value or collection")
    }
  }

  /// A named stream of an entity.
  private func stream(_ path: ODataBoundPath) throws -> ReadPlan {
    var before = path
    if case .value? = before.segments.last?.kind { before.segments.removeLast() }
    guard case .property(let property)? = before.segments.popLast()?.kind else {
      throw OfflineODataError.unsupported("a stream here")
    }
    return try stream(named: property.name, before, path)
  }

  private func stream(named name: String, _ before: ODataBoundPath, _ path: ODataBoundPath) throws -> ReadPlan {
    let (place, _) = try walk(before)
    guard case .entity(let entity) = place.scope, let rows = place.rows else {
      throw OfflineODataError.unsupported("a stream here")
    }
    let shapes = ShapeWriter(statement: statement, it: nil)
    let reference = try shapes.reference(entity, before.source)
    guard let column = entity.table.column([name], on: entity.type) else {
      throw OfflineODataError.unsupported("the stream '\(name)'")
    }
    let member = ReadMember(
      name: name, kind: .column(statement.column(try writer.reference(column, of: entity)), .stream),
      type: .plain(.stream))
    let shape = ReadShape(
      table: reference.table, type: reference.type, source: reference.source, id: reference.id,
      typeNumber: reference.typeNumber, uri: reference.uri, key: reference.key, members: [member])
    return ReadPlan(
      try SQLText.select(statement.columns, rows), .media(shape, property: name), isSingle: true)
  }

  // MARK: $crossjoin

  private func crossjoin(
    _ sources: [ODataNavigationSource], _ path: ODataBoundPath, _ options: ODataBoundOptions
  ) throws -> ReadPlan {
    var set = RowSet(rows: RelatedRows(), scope: .row([:]))
    var members = ComputedRow()
    for source in sources {
      let place = try writer.begin(source)
      guard let rows = place.rows, case .entity(let entity) = place.scope else { continue }
      set.rows.tables += rows.tables
      set.identity += try OrderWriter(writer: writer).identity(of: entity)
      members[source.name] = place.scope
      set.names.append(source.name)
    }
    set.scope = .row(members)
    let planner = PlanWriter(statement: statement, it: nil)
    switch path.segments.dropFirst().first?.kind {
    case nil: return try planner.plan(set, options, as: .objects)
    case .count where path.segments.count == 2: return try planner.plan(set, options, as: .count)
    case let other?: throw OfflineODataError.unsupported(describe(other) + " after $crossjoin")
    }
  }
}

extension ODataBoundSegment {
  fileprivate var isKey: Bool { if case .key = kind { true } else { false } }
  fileprivate var isCast: Bool { if case .cast = kind { true } else { false } }
}

extension SelectStatement {
  /// Relaxes the checks from index `first` on: they fail only if the entity with the key is not in the copy. If it is,
  /// how the path leads to it does not matter.
  fileprivate func need(_ foundRows: RelatedRows, insteadOf first: Int) {
    guard case .rowOrFailure = ReadOutcome(.find, of: .linkNotDownloaded) else { return }
    for number in checks.indices where number >= first {
      checks[number].text.append(" AND NOT EXISTS (SELECT 1 \(foundRows.from()))")
    }
  }
}
