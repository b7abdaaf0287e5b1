import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes the plan of a question: SQL from a bound URL.
///
/// A value of one transaction: the names of physical tables are those of its ``ReplicaState``. All literals become
/// parameters. The way of a question through the folder:
///
/// 1. Path/        ``ResourceWriter`` takes the steps of the URL's path: tables, and what joins and chooses their rows.
/// 2. Apply/       ``ApplyWriter`` replaces the rows by what `$apply` makes of them.
/// 3. Options/     ``PlanWriter`` puts the other options on the rows; ``ShapeWriter`` says which columns are what;
///                 ``ExpandWriter`` makes a plan for each navigation property in line.
/// 4. Expression/, Functions/  ``ExpressionWriter`` writes expressions, in the three-valued logic of the standard.
/// 5. SQL/         pieces of SQL with their parameters.
struct QueryWriter: Sendable {
  let plan: ReplicaPlan
  let state: ReplicaState
  var options: Options
  /// What the defining queries have brought; nil asks nothing of it.
  let coverage: Coverage?
  /// What stands for tables that are none of the file.
  var sources = QuerySources()

  /// What is not said by the URL.
  struct Options: Sendable, Hashable {
    /// The most rows of a page; nil answers all at once.
    var pageSize: Int?
    /// Whether answers say of each entity whether the last download has brought or changed it.
    var showsMarks: Bool
    /// Whether sets are only those of their rows that were created here.
    var localRowsOnly: Bool
    /// What `now()` is, in the form of Edm.DateTimeOffset: the same for a whole question.
    var now: String
    /// Whether a statement that fails says for which row and expression.
    var namesRows = false
    /// What `$apply` may make of hierarchies.
    var hierarchy = HierarchyWriter.Bounds()

    init(
      pageSize: Int? = nil, showsMarks: Bool = false, localRowsOnly: Bool = false, now: Date
    ) {
      self.pageSize = pageSize
      self.showsMarks = showsMarks
      self.localRowsOnly = localRowsOnly
      self.now = Options.offset(now)?.description ?? ReplicaSQL.minimumMoment
    }

    private static func offset(_ date: Date) -> ODataDateTimeOffset? {
      let time = date.timeIntervalSince1970
      let whole = time.rounded(.down)
      return ODataDateTimeOffset(
        secondsSince1970: Int64(whole), picosecond: UInt64(max(0, ((time - whole) * 1e6).rounded(.down))) * 1_000_000)
    }
  }

  init(plan: ReplicaPlan, state: ReplicaState, options: Options, coverage: Coverage? = nil) {
    self.plan = plan
    self.coverage = coverage
    self.state = state
    self.options = options
  }

  /// The plan that answers a URL.
  ///
  /// - Throws: ``OfflineODataError`` `notSupported` with the name of the construct that has no meaning on stored data, and
  ///   `invalidInput` for a `$skiptoken` that is none of this store's.
  func plan(_ url: ODataBoundURL) throws -> ReadPlan {
    switch url.resource {
    case .path(let path): return try plan(path, url)
    case .entity(let type): return try entity(type, url)
    case .service: throw OfflineODataError.unsupported("the service document in this form")
    case .metadata: throw OfflineODataError.unsupported("$metadata as a question")
    case .batch: throw OfflineODataError.unsupported("$batch as a question")
    }
  }

  private func plan(_ path: ODataBoundPath, _ url: ODataBoundURL) throws -> ReadPlan {
    let question = question(url)
    question.sources = sources
    return try ResourceWriter(question).plan(path, try searching(url.options)).noting(question)
  }

  private func question(_ url: ODataBoundURL) -> Question {
    let question = Question(plan: plan, state: state, options: options, coverage: coverage)
    if !options.namesRows { question.naming = RowNaming(writer: self, url: url) }
    return question
  }

  /// `search=…`, which SAP's services before V4 take for a search (sap:searchable): each of its words has to be there. In V4 an
  /// option of that name is a custom one, which a service may not know (URL Conventions 4.01 §5.2).
  private func searching(_ options: ODataBoundOptions) throws -> ODataBoundOptions {
    guard plan.model.version < .v4, let option = options.custom.first(where: { $0.name == "search" }) else {
      return options
    }
    guard options.search == nil else { throw OfflineODataError.unsupported("search= beside $search") }
    let words = (option.value ?? "").split(whereSeparator: \.isWhitespace).map {
      ODataSearchExpression.word(String($0))
    }
    var options = options
    options.search = words.count > 1 ? .and(words) : words.first
    return options
  }

  // MARK: $entity

  /// `$entity?$id=…`: the entity of an entity-id, which is its URL by the conventions (URL Conventions 4.01 §4.14).
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
      throw OfflineODataError.unsupported("an entity-id that is no URL of an entity")
    }
    var options = url.options
    options.id = nil
    let question = question(url)
    return try ResourceWriter(question).plan(path, options, cast: type).noting(question)
  }
}
