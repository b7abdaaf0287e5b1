import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes the plan of a query: SQL from a bound URL.
///
/// It is valid for one transaction, because the names of physical tables are those of its ``ReplicaState``. All
/// literals become parameters. A query goes through the folders in this order:
///
/// 1. Path/        ``ResourceWriter`` follows the segments of the URL's path: tables, joins and conditions.
/// 2. Apply/       ``ApplyWriter`` replaces the rows by the result of `$apply`.
/// 3. Options/     ``PlanWriter`` applies the other options to the rows; ``ShapeWriter`` describes the columns;
///                 ``ExpandWriter`` creates a plan for each expanded navigation property.
/// 4. Expression/, Functions/  ``ExpressionWriter`` writes expressions, in the three-valued logic of the standard.
/// 5. SQL/         pieces of SQL with their parameters.
struct QueryWriter: Sendable {
  let plan: ReplicaPlan
  let state: ReplicaState
  var options: Options
  /// What the defining queries have downloaded; nil if nothing is to be checked.
  let coverage: Coverage?
  /// The SQL that replaces tables which are not in the file.
  var sources = QuerySources()

  /// The settings of a query that the URL does not contain.
  struct Options: Sendable, Hashable {
    /// The maximum number of rows of a page; nil returns all rows at once.
    var pageSize: Int?
    /// Whether results show for each entity whether the last download added or changed it.
    var showsMarks: Bool
    /// Whether entity sets contain only the rows that were created locally.
    var localRowsOnly: Bool
    /// The value of `now()`, in the form of Edm.DateTimeOffset: it is constant within a query.
    var now: String
    /// Whether the error of a failed statement names the row and the expression.
    var namesRows = false
    /// The limits for hierarchies in `$apply`.
    var hierarchy = HierarchyWriter.Bounds()

    init(
      pageSize: Int? = nil, showsMarks: Bool = false, localRowsOnly: Bool = false, now: Date
    ) {
      self.pageSize = pageSize
      self.showsMarks = showsMarks
      self.localRowsOnly = localRowsOnly
      self.now = Options.offset(now)?.description ?? ReplicaSQL.minimumTimestamp
    }

    private static func offset(_ date: Date) -> ODataDateTimeOffset? {
      let time = date.timeIntervalSince1970
      let seconds = time.rounded(.down)
      return ODataDateTimeOffset(
        secondsSince1970: Int64(seconds),
        picosecond: UInt64(max(0, ((time - seconds) * 1e6).rounded(.down))) * 1_000_000)
    }
  }

  init(plan: ReplicaPlan, state: ReplicaState, options: Options, coverage: Coverage? = nil) {
    self.plan = plan
    self.coverage = coverage
    self.state = state
    self.options = options
  }

  /// Returns the plan for a URL.
  ///
  /// - Throws: ``OfflineODataError`` `notSupported` with the name of the construct that has no meaning on stored data,
  ///   and `invalidInput` for a `$skiptoken` that this store did not create.
  func plan(_ url: ODataBoundURL) throws -> ReadPlan {
    switch url.resource {
    case .path(let path): return try plan(path, url)
    case .entity(let type): return try entity(type, url)
    case .service: throw OfflineODataError.unsupported("the service document in this form")
    case .metadata: throw OfflineODataError.unsupported("$metadata as a query")
    case .batch: throw OfflineODataError.unsupported("$batch as a query")
    }
  }

  private func plan(_ path: ODataBoundPath, _ url: ODataBoundURL) throws -> ReadPlan {
    let context = context(url)
    context.sources = sources
    return try ResourceWriter(context).plan(path, try addingSearch(url.options)).addingNotes(context)
  }

  private func context(_ url: ODataBoundURL) -> QueryContext {
    let context = QueryContext(plan: plan, state: state, options: options, coverage: coverage)
    if !options.namesRows { context.rowNaming = RowNaming(writer: self, url: url) }
    return context
  }

  /// Treats `search=…` as a search, as SAP's services before V4 do (sap:searchable): each of its words must occur. In
  /// V4 an option of that name is a custom one, which a service may not know (URL Conventions 4.01 §5.2).
  private func addingSearch(_ options: ODataBoundOptions) throws -> ODataBoundOptions {
    guard plan.model.version < .v4, let option = options.custom.first(where: { $0.name == "search" }) else {
      return options
    }
    guard options.search == nil else { throw OfflineODataError.unsupported("search= together with $search") }
    let words = (option.value ?? "").split(whereSeparator: \.isWhitespace).map {
      ODataSearchExpression.word(String($0))
    }
    var options = options
    options.search = words.count > 1 ? .and(words) : words.first
    return options
  }

  // MARK: $entity

  /// `$entity?$id=…`: the entity with an entity-id, which is its URL by the conventions (URL Conventions 4.01 §4.14).
  private func entity(_ type: EdmStructure?, _ url: ODataBoundURL) throws -> ReadPlan {
    guard let id = url.options.id else { throw OfflineODataError.unsupported("$entity without $id") }
    let version = max(plan.model.version, .v4)
    let parser = ODataParser(version)
    let tree: ODataURL
    if let root = url.serviceRoot, id.hasPrefix(root) {
      tree = try parser.relativeURL(String(id.dropFirst(root.count)))
    } else {
      tree = try parser.url(id, serviceRoot: url.serviceRoot)
    }
    let bound = try ODataBinder(model: plan.model).bind(tree, text: id)
    guard case .path(let path) = bound.resource, path.type?.isCollection == false else {
      throw OfflineODataError.unsupported("an entity-id that is not the URL of an entity")
    }
    var options = url.options
    options.id = nil
    let context = context(url)
    return try ResourceWriter(context).plan(path, options, cast: type).addingNotes(context)
  }
}
