import LarderOData
import LarderStorage

/// A question with its plan, run on a connection into an answer.
///
/// 1. ``json(_:into:)`` writes the answer's bytes, in pieces of some 64 kB, straight from the rows.
/// 2. ``payload(_:)`` gives the values that an online answer of the same bytes gives.
/// 3. ``read(_:_:)`` makes values of `Decodable` types, without JSON between.
/// 4. ``media(_:)`` says which entity's bytes are asked for; they are kept apart from the rows.
struct ResultRun: Sendable {
  let plan: ReadPlan
  let url: ODataBoundURL
  let form: ResultForm
  let model: EdmModel
  /// Those of the question: of one plan and URL.
  private let heads: ResultHeads
  /// What it reads beside the tables of its statements, as numbers of the log of changes.
  let alsoReads: Set<Int>

  init(
    plan: ReadPlan, url: ODataBoundURL, form: ResultForm, model: EdmModel, heads: ResultHeads = ResultHeads(),
    alsoReads: Set<Int> = []
  ) {
    (self.plan, self.url, self.form, self.model, self.heads) = (plan, url, form, model, heads)
    self.alsoReads = alsoReads
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

  var types: ResultTypes { ResultTypes(model: model, form: form) }

  /// Writes the answer, handing its bytes to `sink` as they come.
  func json(_ connection: Connection, into sink: ([UInt8]) throws -> Void) throws -> End {
    try namingRows(connection) { try written(connection, into: sink) }
  }

  private func written(_ connection: Connection, into sink: ([UInt8]) throws -> Void) throws -> End {
    var out = ResultBytes()
    let writer = ResultWriter(connection: connection, types: types)
    let end: End
    switch plan.content {
    case .count: end = try count(writer, into: &out)
    case .value(let member, isRaw: true): end = try raw(member, writer, into: &out)
    case .value(let member, isRaw: false): end = try value(member, writer, into: &out, sink)
    case .objects(let shape), .references(let shape):
      let object = object(shape)
      end =
        plan.isSingle
        ? try one(object, writer, into: &out) : try many(object, writer, into: &out, sink)
    case .media:
      throw OfflineODataError(.unsupportedRequest, "the path names bytes: streamMedia(_:) and readMedia(_:) give them")
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
  func place(_ shape: ReadShape) -> ResultIdentity.Place {
    guard shape.table?.isContained == true else { return ResultExpand.place(shape) }
    guard case .path(let path) = url.resource else { return .unknown }
    let walk = ResultPath(path)
    guard let place = walk.encodedPlace else { return .unknown }
    return walk.isInCollection ? .set(Array(place.utf8)) : .single(Array(place.utf8))
  }

  /// What entities of the outermost collection, or the one, are written by.
  func object(_ shape: ReadShape) -> ResultObject {
    if let known = heads.head(self).object, known.shape === shape { return known }
    return prepared(shape)
  }

  /// The same, made anew.
  func prepared(_ shape: ReadShape) -> ResultObject {
    ResultObject(shape, options: url.options, place: place(shape), declared: declaredType(shape), types: types)
  }

  /// The type that the context URL tells.
  func declaredType(_ shape: ReadShape) -> EdmStructure? {
    url.type?.structure ?? shape.type ?? shape.table?.type
  }

  /// The context URL as the first member; nothing where the form has none.
  var context: [UInt8] { heads.head(self).context }

  /// The same, made anew.
  var writtenContext: [UInt8] {
    guard !form.isVerbose, form.metadata != .none,
      let fragment = ResultContext(url, plan: plan, version: form.version).fragment
    else { return [] }
    var out = ResultBytes()
    out.append("\"\(form.control)context\":")
    out.string("\(form.serviceRoot)$metadata#\(fragment)")
    out.append(UInt8(ascii: ","))
    return out.takeAll()
  }

  private func one(_ object: ResultObject, _ writer: ResultWriter, into out: inout ResultBytes) throws -> End {
    var end = End(found: .nothing, mediaType: form.mediaType)
    if form.isVerbose { out.append(literal: "{\"d\":") }
    try writer.forEachRow(plan.sql, ResultWriter.values(plan.parameters)) { row in
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
    _ object: ResultObject, _ writer: ResultWriter, into out: inout ResultBytes, _ sink: ([UInt8]) throws -> Void
  ) throws -> End {
    var collection = ResultCollection(self, object, writer)
    try collection.open(into: &out)
    try writer.forEachRow(plan.sql, ResultWriter.values(plan.parameters)) { row in
      guard try collection.row(row, into: &out) else { return false }
      if out.count > ResultBytes.chunk { try sink(out.take()) }
      return true
    }
    return try collection.close(into: &out)
  }

  /// Writes one entity or reference, and a comma.
  func row(
    _ object: ResultObject, _ row: borrowing Row, _ writer: ResultWriter, context: [UInt8] = [],
    into out: inout ResultBytes
  ) throws {
    if case .references = plan.content {
      try writer.reference(object, row, context: context, into: &out)
    } else {
      try writer.object(object, row, context: context, into: &out)
    }
  }

  /// Where no row came: whether there is what the path goes through before its last step; nil where that is the last step
  /// itself.
  func hasOwner(_ writer: ResultWriter) throws -> Bool? {
    try plan.owner.map { try writer.count($0.sql, ResultWriter.values($0.parameters)) > 0 }
  }
}
