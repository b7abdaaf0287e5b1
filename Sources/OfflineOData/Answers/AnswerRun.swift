import OData
import Storage

/// A question with its plan, run on a connection into an answer.
///
/// 1. ``json(_:into:)`` writes the answer's bytes, in pieces of some 64 kB, straight from the rows.
/// 2. ``payload(_:)`` gives the values that an online answer of the same bytes gives.
/// 3. ``read(_:_:)`` makes values of `Decodable` types, without JSON between.
/// 4. ``media(_:)`` says which entity's bytes are asked for; they are kept apart from the rows.
struct AnswerRun: Sendable {
  let plan: ReadPlan
  let url: ODataBoundURL
  let form: AnswerForm
  let model: EdmModel

  init(plan: ReadPlan, url: ODataBoundURL, form: AnswerForm, model: EdmModel) {
    (self.plan, self.url, self.form, self.model) = (plan, url, form, model)
  }

  /// What became of a question.
  struct End: Sendable, Hashable {
    /// What there is.
    enum Found: Sendable, Hashable {
      /// A payload.
      case content
      /// A value or to-one navigation property that is null: no content (Protocol 4.01 §11.2.4).
      case null
      /// No such entity.
      case nothing
    }
    var found: Found
    /// Rows of the outermost collection, or 1.
    var rows = 0
    /// The entity's ETag, for the header of its answer.
    var etag: String?
    /// The media type of the payload.
    var mediaType: String
  }

  var types: AnswerTypes { AnswerTypes(model: model, form: form) }

  /// Writes the answer, handing its bytes to `sink` as they come.
  func json(_ connection: Connection, into sink: ([UInt8]) throws -> Void) throws -> End {
    var out = AnswerBytes()
    let writer = AnswerWriter(connection: connection, types: types)
    let end: End
    switch plan.content {
    case .count: end = try count(writer, into: &out)
    case .value(let member, isRaw: true): end = try raw(member, writer, into: &out)
    case .value(let member, isRaw: false): end = try value(member, writer, into: &out, sink)
    case .objects(let shape), .references(let shape):
      let object = AnswerObject(
        shape, options: url.options, place: place(shape), declared: declaredType(shape), types: types)
      end =
        plan.isSingle
        ? try one(object, writer, into: &out) : try many(object, writer, into: &out, sink)
    case .media: throw OfflineODataError(.internalFailure, "The bytes of media are not among the rows")
    }
    let rest = out.takeAll()
    if !rest.isEmpty { try sink(rest) }
    return end
  }

  /// The answer's bytes at once.
  func json(_ connection: Connection) throws -> (bytes: [UInt8], end: End) {
    var all: [UInt8] = []
    let end = try json(connection) { if all.isEmpty { all = $0 } else { all += $0 } }
    return (all, end)
  }

  // MARK: Entities

  /// Where the entities have their URLs: in their set, or for contained ones on the way that the question took.
  private func place(_ shape: ReadShape) -> AnswerIdentity.Place {
    guard shape.table?.isContained == true else { return AnswerExpand.place(shape) }
    guard case .path(let path) = url.resource else { return .unknown }
    let walk = AnswerPath(path)
    guard let place = walk.encodedPlace else { return .unknown }
    return walk.isInCollection ? .set(Array(place.utf8)) : .single(Array(place.utf8))
  }

  /// The type that the context URL tells.
  private func declaredType(_ shape: ReadShape) -> EdmStructure? {
    url.type?.structure ?? shape.type ?? shape.table?.type
  }

  private var context: [UInt8] {
    guard !form.isVerbose, form.metadata != .none,
      let fragment = AnswerContext(url, plan: plan, version: form.version).fragment
    else { return [] }
    var out = AnswerBytes()
    out.append("\"\(form.control)context\":")
    out.string("\(form.serviceRoot)$metadata#\(fragment)")
    out.append(UInt8(ascii: ","))
    return out.takeAll()
  }

  private func one(_ object: AnswerObject, _ writer: AnswerWriter, into out: inout AnswerBytes) throws -> End {
    var end = End(found: .nothing, mediaType: form.mediaType)
    if form.isVerbose { out.append(literal: "{\"d\":") }
    try writer.forEachRow(plan.sql, AnswerWriter.values(plan.parameters)) { row in
      end.found = .content
      end.rows = 1
      if let etag = object.shape.etag { end.etag = try row.textOrNil(etag) }
      try self.row(object, row, writer, context: context, into: &out)
      return false
    }
    guard end.found == .content else {
      out.truncate(to: 0)
      if try hasOwner(writer) == true { end.found = .null }
      return end
    }
    if form.isVerbose { out.close(UInt8(ascii: "}")) } else { out.truncate(to: out.count - 1) }
    return end
  }

  private func many(
    _ object: AnswerObject, _ writer: AnswerWriter, into out: inout AnswerBytes, _ sink: ([UInt8]) throws -> Void
  ) throws -> End {
    let total = try total(writer)
    if form.isVerbose {
      out.append(literal: "{\"d\":{\"results\":[")
    } else {
      out.append(UInt8(ascii: "{"))
      out.append(context)
      if let total {
        out.append("\"\(form.control)count\":")
        out.append(form.isIEEE754Compatible ? "\"\(total)\"," : "\(total),")
      }
      out.append(literal: "\"value\":[")
    }
    var paging = AnswerPaging(plan.page)
    try writer.forEachRow(plan.sql, AnswerWriter.values(plan.parameters)) { row in
      guard paging.takes(row) else { return false }
      try self.row(object, row, writer, into: &out)
      if out.count > AnswerBytes.chunk { try sink(out.take()) }
      return true
    }
    if paging.count == 0, try hasOwner(writer) == false {
      out.truncate(to: 0)
      return End(found: .nothing, mediaType: form.mediaType)
    }
    out.close(UInt8(ascii: "]"))
    let next = try paging.next.map { try AnswerLinks(form).next(url, after: $0) }
    if form.isVerbose {
      if let total { out.append(",\"__count\":\"\(total)\"") }
      if let next { out.append(",\"__next\":\"\(next)\"") }
      out.append(literal: "}}")
    } else {
      if let next { out.append(",\"\(form.control)nextLink\":\"\(next)\"") }
      out.append(UInt8(ascii: "}"))
    }
    return End(found: .content, rows: paging.count, mediaType: form.mediaType)
  }

  private func row(
    _ object: AnswerObject, _ row: borrowing Row, _ writer: AnswerWriter, context: [UInt8] = [],
    into out: inout AnswerBytes
  ) throws {
    if case .references = plan.content {
      try writer.reference(object, row, context: context, into: &out)
    } else {
      try writer.object(object, row, context: context, into: &out)
    }
  }

  private func total(_ writer: AnswerWriter) throws -> Int64? {
    try plan.count.map { try writer.count($0.sql, AnswerWriter.values($0.parameters)) }
  }

  /// Where no row came: whether there is what the path goes through before its last step; nil where that is the last step
  /// itself.
  private func hasOwner(_ writer: AnswerWriter) throws -> Bool? {
    try plan.owner.map { try writer.count($0.sql, AnswerWriter.values($0.parameters)) > 0 }
  }

  // MARK: Values

  private func count(_ writer: AnswerWriter, into out: inout AnswerBytes) throws -> End {
    var end = End(found: .nothing, mediaType: "text/plain")
    try writer.forEachRow(plan.sql, AnswerWriter.values(plan.parameters)) { row in
      end.found = .content
      end.rows = 1
      out.integer(row.integer(0))
      return false
    }
    return end
  }

  /// The raw value (Protocol 4.01 §11.2.4.1): text, and binary values as their bytes.
  private func raw(_ member: ReadMember, _ writer: AnswerWriter, into out: inout AnswerBytes) throws -> End {
    var end = End(found: .nothing, mediaType: "text/plain;charset=utf-8")
    guard case .column(let column, let storage) = member.kind else {
      throw OfflineODataError(.unsupportedQuery, "The raw value of '\(member.name)', which is no primitive property")
    }
    let cell = AnswerCell(storage, type: member.type, form: form, types: types)
    try writer.forEachRow(plan.sql, AnswerWriter.values(plan.parameters)) { row in
      end.rows = 1
      end.found = row.storageClass(column) == .null ? .null : .content
      switch row.storageClass(column) {
      case .null: break
      case .blob:
        end.mediaType = "application/octet-stream"
        unsafe out.append(row.rawBytes(column))
      case .text:
        if storage == .geo { end.mediaType = "application/json" }
        unsafe out.append(row.utf8(column))
        if storage == .dateTime, !form.isVerbose { out.append(UInt8(ascii: "Z")) }
      case .integer, .real:
        try cell.write(row, column, types: types, into: &out)
        end.rows = 1
        let text = out.takeAll().dropLast().filter { $0 != UInt8(ascii: "\"") }
        out.append(Array(text))
      }
      return false
    }
    return end
  }

  /// A property: its value alone, or for complex ones the object (JSON Format 4.01 §11).
  private func value(
    _ member: ReadMember, _ writer: AnswerWriter, into out: inout AnswerBytes, _ sink: ([UInt8]) throws -> Void
  ) throws -> End {
    var end = End(found: .nothing, mediaType: form.mediaType)
    let types = types
    let isObject = !form.isVerbose && plan.isSingle && member.kind.isComplex
    let preparing = AnswerObject.Preparing(types: types, typeCount: 0)
    let inner = ReadMember(
      name: form.isVerbose && plan.isSingle ? member.name : "value", kind: member.kind, type: member.type)
    let parts = preparing.part(inner, isDynamic: member.type.item == .untyped).map { [$0] } ?? []
    if form.isVerbose { out.append(literal: "{\"d\":") }
    out.append(UInt8(ascii: "{"))
    out.append(context)
    if !plan.isSingle { out.append(form.isVerbose ? "\"results\":[" : "\"value\":[") }
    try writer.forEachRow(plan.sql, AnswerWriter.values(plan.parameters)) { row in
      end.rows += 1
      if plan.isSingle {
        if isNull(member, row) {
          end.found = .null
          return false
        }
        let start = out.count
        try writer.members(parts, row, type: 0, into: &out)
        if isObject { unwrap(from: start, &out) }
      } else {
        let start = out.count
        try writer.members(parts, row, type: 0, into: &out)
        dropName(from: start, &out)
        if out.count > AnswerBytes.chunk { try sink(out.take()) }
      }
      end.found = .content
      return !plan.isSingle
    }
    if !plan.isSingle, try end.rows > 0 || hasOwner(writer) != false {
      end.found = .content
      out.close(UInt8(ascii: "]"))
    }
    // V2 shows null values, V4 has no content for them.
    if end.found == .null, form.isVerbose {
      end.found = .content
      out.string(member.name)
      out.append(literal: ":null,")
    }
    guard end.found == .content else {
      out.truncate(to: 0)
      if end.found == .nothing, try hasOwner(writer) == true { end.found = .null }
      return end
    }
    out.close(UInt8(ascii: "}"))
    if form.isVerbose { out.append(UInt8(ascii: "}")) }
    return end
  }

  private func isNull(_ member: ReadMember, _ row: borrowing Row) -> Bool {
    switch member.kind {
    case .column(let column, _), .complex(let column, _), .dynamic(let column, _): row.storageClass(column) == .null
    case .link: false
    }
  }

  /// `"value":{…},` becomes `…,`: the members of the complex value stand in the outermost object.
  private func unwrap(from start: Int, _ out: inout AnswerBytes) {
    out.cut(from: start, Array("\"value\":{".utf8).count)
    out.truncate(to: out.count - 2)
    out.append(UInt8(ascii: ","))
    if out.count == start + 1 { out.truncate(to: start) }
  }

  /// `"value":…,` becomes `…,`
  private func dropName(from start: Int, _ out: inout AnswerBytes) {
    out.cut(from: start, Array("\"value\":".utf8).count)
  }
}

extension ReadMember.Kind {
  var isComplex: Bool { if case .complex = self { true } else { false } }
}
