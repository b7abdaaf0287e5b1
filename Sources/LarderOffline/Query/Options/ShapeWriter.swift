import LarderOData
import LarderStorage

/// Writes what a statement selects: system columns, the properties that `$select` chooses, and those that `$expand`
/// needs.
struct ShapeWriter {
  let statement: SelectStatement
  /// `$it` of the enclosing options; nil at the top level.
  let it: Scope?

  var writer: ExpressionWriter { ExpressionWriter(statement: statement, environment: Environment()) }

  func shape(_ set: RowSet, _ options: ODataBoundOptions) throws -> ReadShape {
    switch set.scope {
    case .entity(let entity):
      let expander = ExpandWriter(statement: statement, it: it ?? set.scope)
      var expands = try expander.expands(options.expand, of: set.scope)
      let selection = try Selection(options.select, path: [])
      let expanded = Set(expands.map { $0.path.first ?? "" })
      expands += try expander.inLine(entity, selection, without: expanded)
      return try shape(entity, set: set, selection: selection, expands: expands)
    case .row(let members):
      let expander = ExpandWriter(statement: statement, it: it ?? set.scope)
      let selection = try Selection(options.select, path: [])
      var expands = try expander.expands(options.expand, of: set.scope)
      let expanded = Set(expands.map { $0.path.first ?? "" })
      // Grouping entities are shown inline, whether `$expand` names them or not (Data Aggregation 4.0 §3.2.3.1).
      expands += try expander.inLine(
        members, set.names.filter { !expanded.contains($0) && selection.shows($0) })
      let shown = try computedMembers(members, set.names, selection, without: expanded)
      return ReadShape(
        table: nil, type: nil, typeNumber: members.kind.map { statement.column($0.number) }, members: shown,
        expands: expands)
    default: throw OfflineODataError.unsupported("query options on rows that are not entities")
    }
  }

  /// The reference to an entity.
  func reference(_ entity: EntityScope, _ source: ODataBoundSource?, withMedia: Bool = false) throws -> ReadShape {
    let table = entity.table
    return ReadShape(
      table: table, type: entity.type, source: source, id: try column(.id, entity),
      typeNumber: table.hasTypes ? try column(.type, entity) : nil, uri: try column(.uri, entity),
      media: withMedia ? try column(.media, entity) : nil, key: try key(entity), members: [])
  }

  private func shape(
    _ entity: EntityScope, set: RowSet, selection: Selection, expands: [ReadExpand]
  ) throws -> ReadShape {
    let table = entity.table
    let expanded = Set(expands.map { $0.path.first ?? "" })
    var members = try MemberWriter(shapes: self, entity: entity).members(selection, at: [])
    for name in set.names {
      guard let computedScope = entity.computed[name], selection.shows(name), !expanded.contains(name) else { continue }
      if case .nested = computedScope { continue }
      members.append(try member(name, computedScope))
    }
    return ReadShape(
      table: table, type: entity.type, source: set.source, id: try column(.id, entity),
      typeNumber: table.hasTypes ? try column(.type, entity) : nil, etag: try column(.etag, entity),
      uri: try column(.uri, entity), media: table.types.contains(where: \.hasStream) ? try column(.media, entity) : nil,
      state: try state(of: entity), key: try key(entity), members: members, expands: expands)
  }

  /// The bits of ``LocalState``. The bit of the last download is added only if results show it, because it costs a
  /// lookup for each row.
  private func state(of entity: EntityScope) throws -> Int32 {
    guard statement.context.options.showsMarks else { return try column(.state, entity) }
    let state = try writer.system(.state, of: entity)
    let mark = DownloadMarks.condition(entity.table, id: try writer.system(.id, of: entity), state: state)
    return statement.column("\(state) | CASE WHEN \(mark) THEN \(number: Int(LocalState.upserted)) ELSE 0 END")
  }

  func column(_ column: SystemColumn, _ entity: EntityScope) throws -> Int32 {
    statement.column(try writer.system(column, of: entity))
  }

  private func key(_ entity: EntityScope) throws -> [Int32] {
    try entity.table.key.map { statement.column(try writer.reference(entity.table.columns[$0], of: entity)) }
  }

  // MARK: Computed members

  private func computedMembers(
    _ members: ComputedRow, _ names: [String], _ selection: Selection, without expanded: Set<String>
  ) throws -> [ReadMember] {
    var shown: [ReadMember] = []
    for name in names where selection.shows(name) {
      guard let scope = members[name] else { continue }
      switch scope {
      case .entity where expanded.contains(name) || members.inLine.contains(name): continue
      case .nested: continue
      default: break
      }
      var shownMember = try member(name, scope)
      shownMember.types = members.kinds[name]
      shown.append(shownMember)
    }
    return shown
  }

  /// A member that the query has computed.
  func member(_ name: String, _ scope: Scope) throws -> ReadMember {
    switch scope {
    case .value(let value):
      guard let storage = value.storage else {
        return ReadMember(
          name: name, kind: .column(statement.column(.atom("nullif(json_quote(\(value.text)), 'null')")), .json),
          type: value.type)
      }
      return ReadMember(name: name, kind: .column(statement.column(value.text), storage), type: value.type)
    case .json(let json):
      return ReadMember(name: name, kind: .column(statement.column(json.json), .json), type: json.type)
    case .entity(let entity):
      return ReadMember(
        name: name, kind: .link(try reference(entity, nil)), type: ODataBoundType(.structure(entity.type)))
    case .complex(let complex):
      return try MemberWriter(shapes: self, entity: complex.owner).complex(complex, name: name)
    case .row(let members):
      let inner = try computedMembers(members, members.names, .all, without: [])
      return ReadMember(
        name: name, kind: .complex(statement.column(members.marker ?? "''"), inner),
        type: ODataBoundType(.abstract(.complexType)))
    case .nested: throw OfflineODataError.unsupported("the collection '\(name)' here")
    }
  }
}
