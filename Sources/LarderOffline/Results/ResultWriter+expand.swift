import LarderOData
import LarderStorage

// Expanded entities and references.
extension ResultWriter {
  /// Writes expanded navigation properties, with one more statement for each of them.
  func expands(
    _ object: ResultObject, _ row: borrowing Row, type: Int, path: [UInt8]?, into out: inout ResultBytes
  ) throws {
    let id = object.shape.id.map { row.integer($0) }
    let isInCycle = id.map(enclosingIDs.contains) ?? false
    if let id { enclosingIDs.append(id) }
    defer { if id != nil { enclosingIDs.removeLast() } }
    for expand in object.expands where expand.types.isEmpty || type < expand.types.count && expand.types[type] {
      if isInCycle, expand.expand.stopsAtCycles { continue }
      if let only = expand.expand.only, try row.textOrNil(only.column) != only.text { continue }
      try self.expand(expand, row, path, into: &out)
    }
  }

  /// Writes what is expanded in one complex value.
  func innerExpands(
    _ inner: InnerExpands, _ path: String, _ row: borrowing Row, into out: inout ResultBytes
  ) throws {
    guard let expands = inner.object.innerExpands[path] else { return }
    let type = inner.object.shape.typeNumber.map { Int(truncatingIfNeeded: row.integer($0)) } ?? 0
    for expand in expands where expand.types.isEmpty || type < expand.types.count && expand.types[type] {
      try self.expand(expand, row, inner.parent, into: &out)
    }
  }

  /// Writes what is expanded in complex values that are not shown themselves.
  func hiddenExpands(_ inner: InnerExpands, _ row: borrowing Row, into out: inout ResultBytes) throws {
    for path in inner.object.hiddenPaths {
      let steps = path.split(separator: "/")
      for step in steps { out.append("\"\(step)\":{") }
      try innerExpands(inner, path, row, into: &out)
      for _ in steps { out.close(UInt8(ascii: "}")) }
      out.append(UInt8(ascii: ","))
    }
  }

  /// Writes one expanded navigation property as members, each with a comma.
  func expand(
    _ expand: ResultExpand, _ row: borrowing Row, _ path: [UInt8]?, into out: inout ResultBytes
  ) throws {
    let plan = expand.expand.plan
    try plan.check(connection, at: row)
    let values = plan.parameters.values(at: row)
    guard let object = expand.object else {
      let count = try self.count(expand.sql, values)
      out.append("\"\(expand.name)\(form.control)count\":\(exact(count)),")
      return
    }
    var counted: Int64?
    if let count = plan.count, let sql = expand.countSQL {
      counted = try self.count(sql, count.parameters.values(at: row))
    }
    if let counted, !form.isVerbose { out.append("\"\(expand.name)\(form.control)count\":\(exact(counted)),") }
    if !expand.ownContext.isEmpty { out.append(expand.ownContext) }
    out.append("\"\(expand.name)\":")
    guard expand.expand.isCollection else {
      let start = out.count
      try forEachRow(expand.sql, values) { row in
        try self.row(plan, object: object, row: row, parent: path, context: expand.context, into: &out)
        return false
      }
      if out.count == start { out.append(literal: "null,") }
      return
    }
    out.append(form.isVerbose ? "{\"results\":[" : "[")
    var paging = ResultPaging(plan.page)
    try forEachRow(expand.sql, values) { row in
      guard paging.accepts(row) else { return false }
      try self.row(plan, object: object, row: row, parent: path, into: &out)
      return true
    }
    out.close(UInt8(ascii: "]"))
    let next = try paging.next.map { try nextLink(expand, path, $0) }
    if form.isVerbose {
      if let counted { out.append(",\"__count\":\"\(counted)\"") }
      if let next { out.append(",\"__next\":\"\(next)\"") }
      out.append(UInt8(ascii: "}"))
    } else if let next {
      out.append(",\"\(expand.name)\(form.control)nextLink\":\"\(next)\"")
    }
    out.append(UInt8(ascii: ","))
  }

  private func exact(_ count: Int64) -> String { form.isIEEE754Compatible ? "\"\(count)\"" : "\(count)" }

  /// Runs a statement that counts and returns the number; 0 if it has no row.
  func count(_ sql: String, _ values: [SQLValue]) throws -> Int64 {
    var count: Int64 = 0
    try forEachRow(sql, values) { row in
      count = row.integer(0)
      return false
    }
    return count
  }

  private func row(
    _ plan: ReadPlan, object: ResultObject, row: borrowing Row, parent: [UInt8]?, context: [UInt8] = [],
    into out: inout ResultBytes
  ) throws {
    if case .references = plan.content {
      try reference(object, row, below: parent, into: &out)
    } else {
      try self.object(object, row, below: parent, context: context, into: &out)
    }
  }

  /// Writes a reference to a row's entity, and a comma.
  func reference(
    _ object: ResultObject, _ row: borrowing Row, below parent: [UInt8]? = nil, context: [UInt8] = [],
    into out: inout ResultBytes
  ) throws {
    let path = try object.identity.path(row, below: parent)
    guard let id = try object.identity.serviceURL(row) ?? path.map({ String(decoding: $0, as: UTF8.self) }) else {
      throw OfflineODataError(.unsupportedQuery, "references to entities that are in no entity set")
    }
    out.append(UInt8(ascii: "{"))
    if !context.isEmpty { out.append(context) }
    out.append(form.isVerbose ? "\"uri\":" : "\"\(form.control)id\":")
    out.string(form.isVerbose || form.metadata == .full ? absolute(id) : id)
    out.append(literal: "},")
  }

  private func nextLink(_ expand: ResultExpand, _ parent: [UInt8]?, _ token: SkipToken) throws -> String {
    guard let parent else {
      throw OfflineODataError(.unsupportedQuery, "pages of entities under an entity that is in no entity set")
    }
    let start = form.serviceRoot + String(decoding: parent + [UInt8(ascii: "/")] + expand.path, as: UTF8.self)
    return start + "?" + (try ResultLinks(form).options(expand.options, after: token))
  }
}
