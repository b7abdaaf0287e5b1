import LarderOData
import LarderStorage

/// A query with its plan. It is run on a connection and produces a result.
///
/// 1. ``json(_:into:)`` writes the result's bytes directly from the rows, in pieces of about 64 kB.
/// 2. ``payload(_:)`` returns the values that an online response with the same bytes gives.
/// 3. ``read(_:_:)`` creates values of `Decodable` types, without JSON in between.
/// 4. ``media(_:)`` returns the entity whose bytes are requested; the bytes are stored apart from the rows.
struct ResultRun: Sendable {
  let plan: ReadPlan
  let url: ODataBoundURL
  let form: ResultForm
  let model: EdmModel
  /// The heads of the query's results, for one plan and URL.
  private let heads: ResultHeads
  /// What the query reads in addition to the tables of its statements, as numbers of the log of changes.
  let alsoReads: Set<Int>

  init(
    plan: ReadPlan, url: ODataBoundURL, form: ResultForm, model: EdmModel, heads: ResultHeads = ResultHeads(),
    alsoReads: Set<Int> = []
  ) {
    (self.plan, self.url, self.form, self.model, self.heads) = (plan, url, form, model, heads)
    self.alsoReads = alsoReads
  }

  /// The outcome of a query.
  struct End: Sendable, Hashable {
    /// What the query found.
    enum Outcome: Sendable, Hashable {
      /// A payload.
      case content
      /// A value or to-one navigation property that is null: no content (Protocol 4.01 §11.2.4).
      case null
      /// There is no such entity.
      case nothing
    }
    var outcome: Outcome
    /// The number of rows of the outermost collection, or 1.
    var rows = 0
    /// The entity's ETag, for the header of the response.
    var etag: String?
    /// The media type of the payload.
    var mediaType: String
  }

  var types: ResultTypes { ResultTypes(model: model, form: form) }

  /// Writes the result, and passes its bytes to `sink` as they are written.
  func json(_ connection: Connection, into sink: ([UInt8]) throws -> Void) throws -> End {
    try reportingFailedRow(connection) { try written(connection, into: sink) }
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
        ? try writeOne(object, writer, into: &out) : try writeMany(object, writer, into: &out, sink)
    case .media:
      throw OfflineODataError(
        .unsupportedRequest, "the path leads to media: read it with streamMedia(_:) or readMedia(_:)")
    }
    let rest = out.takeAll()
    if !rest.isEmpty { try sink(rest) }
    return end
  }

  /// Returns all bytes of the result at once.
  func json(_ connection: Connection) throws -> (bytes: [UInt8], end: End) {
    var all: [UInt8] = []
    let end = try json(connection) { if all.isEmpty { all = $0 } else { all += $0 } }
    return (all, end)
  }

  // MARK: Entities

  /// The location of the entities for their URLs: their set, or for contained entities the path of the query.
  func place(_ shape: ReadShape) -> ResultIdentity.Place {
    guard shape.table?.isContained == true else { return ResultExpand.place(shape) }
    guard case .path(let path) = url.resource else { return .unknown }
    let walk = ResultPath(path)
    guard let place = walk.encodedPlace else { return .unknown }
    return walk.isInCollection ? .set(Array(place.utf8)) : .single(Array(place.utf8))
  }

  /// The writer for the entities of the outermost collection, or for the single entity. The query's last form is
  /// cached.
  func object(_ shape: ReadShape) -> ResultObject {
    if let object = heads.head(self).object, object.shape === shape { return object }
    return prepared(shape)
  }

  /// A writer for the entities of a shape, newly created.
  func prepared(_ shape: ReadShape) -> ResultObject {
    ResultObject(shape, options: url.options, place: place(shape), declared: declaredType(shape), types: types)
  }

  /// The type that the context URL names.
  func declaredType(_ shape: ReadShape) -> EdmStructure? {
    url.type?.structure ?? shape.type ?? shape.table?.type
  }

  /// The context URL as the first member; empty if the form has none.
  var context: [UInt8] { heads.head(self).context }

  /// The context URL as the first member, newly created.
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

  private func writeOne(_ object: ResultObject, _ writer: ResultWriter, into out: inout ResultBytes) throws -> End {
    var end = End(outcome: .nothing, mediaType: form.mediaType)
    if form.isVerbose { out.append(literal: "{\"d\":") }
    try writer.forEachRow(plan.sql, plan.parameters.values()) { row in
      end.outcome = .content
      end.rows = 1
      if let etag = object.shape.etag { end.etag = try row.textOrNil(etag) }
      try self.row(object, row, writer, context: context, into: &out)
      return false
    }
    guard end.outcome == .content else {
      out.truncate(to: 0)
      if try hasOwner(writer) == true { end.outcome = .null }
      return end
    }
    if form.isVerbose { out.close(UInt8(ascii: "}")) } else { out.truncate(to: out.count - 1) }
    return end
  }

  private func writeMany(
    _ object: ResultObject, _ writer: ResultWriter, into out: inout ResultBytes, _ sink: ([UInt8]) throws -> Void
  ) throws -> End {
    var collection = ResultCollection(self, object, writer)
    try collection.open(into: &out)
    try writer.forEachRow(plan.sql, plan.parameters.values()) { row in
      guard try collection.row(row, into: &out) else { return false }
      if out.count > ResultBytes.chunk { try sink(out.takeAllButLast()) }
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

  /// If there were no rows: whether the resource before the last step of the path exists; nil if the path has only that
  /// step.
  func hasOwner(_ writer: ResultWriter) throws -> Bool? {
    try plan.owner.map { try writer.count($0.sql, $0.parameters.values()) > 0 }
  }
}
