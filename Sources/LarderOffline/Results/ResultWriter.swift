import LarderOData
import LarderStorage

/// Writes rows as JSON while a statement is positioned on them, and runs one more statement for each expanded property.
final class ResultWriter {
  let connection: Connection
  let types: ResultTypes
  let form: ResultForm
  /// The identities of the entities that enclose the current one. A cycle in the data ends at one of them.
  var enclosingIDs: [Int64] = []

  init(connection: Connection, types: ResultTypes) {
    self.connection = connection
    self.types = types
    form = types.form
  }

  /// Runs a statement. Errors that `body` throws are rethrown.
  func forEachRow(_ sql: String, _ values: [SQLValue], _ body: (borrowing Row) throws -> Bool) throws {
    var failure: (any Error)?
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      do { return try body(row) } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  // MARK: Objects

  /// Writes a row as an object, and a comma; `context` is written first.
  func object(
    _ object: ResultObject, _ row: borrowing Row, below parent: [UInt8]? = nil, context: [UInt8] = [],
    into out: inout ResultBytes
  ) throws {
    out.append(UInt8(ascii: "{"))
    if !context.isEmpty { out.append(context) }
    let type = object.shape.typeNumber.map { Int(truncatingIfNeeded: row.integer($0)) } ?? 0
    var path: [UInt8]?
    if form.isVerbose {
      path = try verboseHead(object, row, type: type, below: parent, into: &out)
    } else {
      path = try head(object, row, type: type, below: parent, into: &out)
    }
    if object.innerExpands.isEmpty {
      try members(object.parts, row, type: type, into: &out)
    } else {
      if path == nil { path = try object.identity.path(row, below: parent) }
      let inner = InnerExpands(object: object, parent: path)
      try members(object.parts, row, type: type, inner: inner, into: &out)
      if !object.hiddenPaths.isEmpty { try hiddenExpands(inner, row, into: &out) }
    }
    if !object.links.isEmpty { links(object, row, type: type, path: path, into: &out) }
    if !object.expands.isEmpty {
      if path == nil { path = try object.identity.path(row, below: parent) }
      try expands(object, row, type: type, path: path, into: &out)
    }
    out.close(UInt8(ascii: "}"))
    out.append(UInt8(ascii: ","))
  }

  /// What is expanded in complex values, and the URL of the enclosing entity.
  struct InnerExpands {
    let object: ResultObject
    let parent: [UInt8]?
  }

  /// Writes the members of an object, each with a comma.
  @inline(__always)
  func members(
    _ parts: [ResultObject.Part], _ row: borrowing Row, type: Int, inner: InnerExpands? = nil,
    into out: inout ResultBytes
  ) throws {
    for index in parts.indices {
      // Taking the part out of the array would copy it.
      guard parts[index].isOf(type), !parts[index].isAbsent(row) else { continue }
      if let raw = parts[index].raw, raw.write(row, into: &out) { continue }
      if case .cell(let column, let cell) = parts[index].kind {
        out.append(parts[index].name)
        try cell.write(row, column, types: types, into: &out)
      } else {
        try compound(parts[index], row, type: type, inner: inner, into: &out)
      }
    }
  }

  private func compound(
    _ part: ResultObject.Part, _ row: borrowing Row, type: Int, inner expands: InnerExpands?,
    into out: inout ResultBytes
  ) throws {
    switch part.kind {
    case .cell: break
    case .complex(let marker, let declared, let inner, let conditions, let path):
      out.append(part.name)
      guard row.storageClass(marker) != .null else { return out.append(literal: "null,") }
      out.append(UInt8(ascii: "{"))
      let name = row.storageClass(marker) == .text ? try row.text(marker) : ""
      let actual = name.isEmpty ? declared : types.model.structure(name) ?? declared
      types.typeName(actual: actual, declared: declared, into: &out)
      try complexMembers(inner, conditions, of: actual, row: row, type: type, expands: expands, into: &out)
      if let expands { try innerExpands(expands, path, row, into: &out) }
      out.close(UInt8(ascii: "}"))
      out.append(UInt8(ascii: ","))
    case .dynamic(let column, let only):
      guard row.storageClass(column) == .text else { return }
      let node = try ResultTypes.node(unsafe Array(row.utf8(column)))
      guard case .object(let members) = node else { return }
      try types.members(members, of: nil, only: only, into: &out)
    case .stream(let column, let name):
      guard !form.isVerbose, row.storageClass(column) == .text else { return }
      let resultMedia = try ResultMedia(ResultTypes.node(unsafe Array(row.utf8(column))))
      resultMedia.write(form, on: name, into: &out)
    case .link(let identity):
      guard form.isVerbose || form.metadata != .none else { return }
      guard let path = try identity.path(row, below: nil) else { return }
      let url = try identity.serviceURL(row) ?? String(decoding: path, as: UTF8.self)
      out.append(part.name)
      if form.isVerbose { out.append(literal: "{\"__deferred\":{\"uri\":") }
      out.string(form.isVerbose || form.metadata == .full ? absolute(url) : url)
      out.append(form.isVerbose ? "}}," : ",")
    }
  }

  private func complexMembers(
    _ parts: [ResultObject.Part], _ conditions: [ResultObject.Part.Condition], of actual: EdmStructure?,
    row: borrowing Row, type: Int,
    expands: InnerExpands?, into out: inout ResultBytes
  ) throws {
    guard !conditions.isEmpty, let actual else {
      return try members(parts, row, type: type, inner: expands, into: &out)
    }
    for (part, condition) in zip(parts, conditions) where condition.holds(actual) {
      try members([part], row, type: type, inner: expands, into: &out)
    }
  }

  // MARK: Control information

  private func head(
    _ object: ResultObject, _ row: borrowing Row, type: Int, below parent: [UInt8]?, into out: inout ResultBytes
  ) throws -> [UInt8]? {
    let shape = object.shape
    guard shape.table != nil, form.metadata != .none else { return nil }
    if type < object.typeNames.count, type >= 0 { out.append(object.typeNames[type]) }
    let serviceURL = try object.identity.serviceURL(row)
    var path: [UInt8]?
    if form.metadata == .full || serviceURL != nil || object.hidesKey {
      path = try object.identity.path(row, below: parent)
      if let id = serviceURL ?? path.map({ String(decoding: $0, as: UTF8.self) }) {
        // Relative ids are relative to the context URL, which begins with the service root.
        member("id", form.metadata == .full ? absolute(id) : id, into: &out)
        if form.metadata == .full {
          let conventional = id + String(decoding: object.identity.cast(row), as: UTF8.self)
          switch try object.identity.edit(row) {
          case .conventional: member("editLink", conventional, into: &out)
          case .url(let link): member("editLink", link, into: &out)
          case .readOnly: member("readLink", conventional, into: &out)
          }
        }
      }
    }
    if let etag = shape.etag, row.storageClass(etag) == .text {
      out.append("\"\(form.control)etag\":")
      unsafe out.string(row.utf8(etag))
      out.append(UInt8(ascii: ","))
    }
    if let media = shape.media, row.storageClass(media) == .text {
      let resultMedia = try ResultMedia(ResultTypes.node(unsafe Array(row.utf8(media))))
      resultMedia.write(form, on: "", into: &out)
    }
    states(shape, row, mark: "@", into: &out)
    return path
  }

  /// Writes the state of an entity as annotations that are true; others are left out.
  private func states(_ shape: ReadShape, _ row: borrowing Row, mark: String, into out: inout ResultBytes) {
    guard let column = shape.state, row.storageClass(column) == .integer, row.integer(column) != 0 else { return }
    for (bit, term) in LocalState.terms where row.integer(column) & bit != 0 {
      out.append("\"\(mark)\(term)\":true,")
    }
  }

  private func member(_ control: String, _ value: String, into out: inout ResultBytes) {
    out.append("\"\(form.control)\(control)\":")
    out.string(value)
    out.append(UInt8(ascii: ","))
  }

  func absolute(_ url: String) -> String {
    url.contains("://") || url.hasPrefix("/") ? url : form.serviceRoot + url
  }

  private func verboseHead(
    _ object: ResultObject, _ row: borrowing Row, type: Int, below parent: [UInt8]?, into out: inout ResultBytes
  ) throws -> [UInt8]? {
    guard object.shape.table != nil else { return nil }
    let path = try object.identity.path(row, below: parent)
    let serviceURL = try object.identity.serviceURL(row)
    out.append(literal: "\"__metadata\":{")
    if let uri = serviceURL ?? path.map({ String(decoding: $0, as: UTF8.self) }) {
      out.append(literal: "\"id\":")
      out.string(absolute(uri))
      out.append(literal: ",\"uri\":")
      out.string(absolute(uri))
      out.append(UInt8(ascii: ","))
    }
    if type >= 0, type < object.typeNames.count {
      out.append(literal: "\"type\":")
      out.append(object.typeNames[type])
      out.append(UInt8(ascii: ","))
    }
    if let etag = object.shape.etag, row.storageClass(etag) == .text {
      out.append(literal: "\"etag\":")
      unsafe out.string(row.utf8(etag))
      out.append(UInt8(ascii: ","))
    }
    if let media = object.shape.media, row.storageClass(media) == .text {
      let resultMedia = try ResultMedia(ResultTypes.node(unsafe Array(row.utf8(media))))
      resultMedia.writeVerbose(
        at: absolute(serviceURL ?? path.map { String(decoding: $0, as: UTF8.self) } ?? ""), into: &out)
    }
    states(object.shape, row, mark: "", into: &out)
    out.close(UInt8(ascii: "}"))
    out.append(UInt8(ascii: ","))
    return path
  }

  private func links(
    _ object: ResultObject, _ row: borrowing Row, type: Int, path: [UInt8]?, into out: inout ResultBytes
  ) {
    guard let path else { return }
    let start =
      form.serviceRoot + String(decoding: path + (form.isVerbose ? [] : object.identity.cast(row)), as: UTF8.self)
    for link in object.links where link.types.isEmpty || type < link.types.count && link.types[type] {
      out.string(form.isVerbose ? link.name : "\(link.name)\(form.control)associationLink")
      out.append(form.isVerbose ? ":{\"__deferred\":{\"uri\":" : ":")
      out.string("\(start)/\(link.name)" + (form.isVerbose ? "" : "/$ref"))
      out.append(form.isVerbose ? "}}," : ",")
      guard !form.isVerbose else { continue }
      out.string("\(link.name)\(form.control)navigationLink")
      out.append(UInt8(ascii: ":"))
      out.string("\(start)/\(link.name)")
      out.append(UInt8(ascii: ","))
    }
  }
}
