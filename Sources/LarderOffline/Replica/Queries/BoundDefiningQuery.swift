import LarderOData

/// A defining query bound to the model: what it downloads, and what is known about its download.
struct BoundDefiningQuery: Sendable {
  let url: ODataBoundURL
  let traits: QueryTraits
  /// The table of the query's own rows.
  let table: EntityTable
  /// All tables that the query returns rows of; nil if the model does not say.
  let tables: Set<Int>?
  /// The entity that contains the rows, if there is one.
  let container: RowContainer?
  /// Whether the service may respond that there is no entity. This is possible behind a navigation property and for a
  /// singleton (Protocol 4.01 §11.2.4, §11.2.7). An entity named by a key exists, or the path is wrong.
  let mayBeNull: Bool
  /// The set of the one entity that the query names by its key; nil for other queries.
  var setOfEntity: String? {
    guard case .path(let path) = url.resource else { return nil }
    let kinds = path.segments.map(\.kind).filter { if case .cast = $0 { false } else { true } }
    guard kinds.count == 2, case .source(let source) = kinds[0], source.entitySet != nil, case .key = kinds[1] else {
      return nil
    }
    return source.name
  }
  /// Whether the path is an entity set, and the query reads all of its entities except those that a filter leaves out.
  let isWholeSet: Bool
  /// Whether the service responds with changes from the first request on.
  let returnsChanges: Bool
  /// The names of the key properties, used for a stable order.
  let key: [String]

  /// Binds the text of a defining query.
  ///
  /// Throws `invalidInput` for a query that returns no entities, has options that turn rows into something else, or
  /// does not fit the model.
  init(
    _ text: String, plan: ReplicaPlan, binder: ODataBinder, pageSize: Int?, tracksChanges: Bool
  ) throws(OfflineODataError) {
    try BoundDefiningQuery.checkType(text, plan.model)
    let changes = ChangesFunction.bind(text, binder)
    let bound = if let changes { changes } else { try BoundDefiningQuery.bind(text, binder) }
    guard case .path(let path) = bound.resource, let type = bound.type?.item, case .structure(let structure) = type,
      let source = changes.flatMap(ChangesFunction.source) ?? bound.source, let table = plan.table(of: source)
    else { throw OfflineODataError(.invalidDefiningQuery, "'\(text)' does not return entities of a set") }
    for segment in changes == nil ? path.segments : path.segments.dropLast() {
      switch segment.kind {
      case .source, .key, .navigation, .cast: continue
      default:
        throw OfflineODataError(.invalidDefiningQuery, "'\(text)' has a path segment that does not return entities")
      }
    }
    container = table.isContained ? RowContainer(path, plan) : nil
    let contained = container.map { plan.tables[$0.table].navigations[$0.navigation].target }
    guard !table.isContained || contained == table.number else {
      throw OfflineODataError(
        .unsupportedQuery, "'\(text)' is a defining query of contained entities; expand them instead")
    }
    guard bound.options.apply == nil, bound.options.skipToken == nil, bound.options.deltaToken == nil else {
      throw OfflineODataError(.invalidDefiningQuery, "'\(text)' has $apply, $skiptoken or $deltatoken")
    }
    url = bound
    self.table = table
    key = structure.key.map(\.path)
    var collectedTables: Set<Int> = [table.number]
    let isKnown = BoundDefiningQuery.collect(bound.options, plan, &collectedTables)
    tables = isKnown ? collectedTables : nil
    returnsChanges = changes != nil
    isWholeSet =
      path.segments.count == (changes == nil ? 1 : 2) && bound.type?.isCollection == true && bound.options.top == nil
      && bound.options.skip == nil
    mayBeNull =
      if case .key? = path.segments.last(where: { if case .cast = $0.kind { false } else { true } })?.kind {
        false
      } else {
        bound.type?.isCollection == false
      }
    var traits = QueryTraits(version: binder.model.version)
    traits.isCollection = bound.type?.isCollection ?? false
    traits.hasWindow = bound.options.top != nil || bound.options.skip != nil
    traits.hasFilter = bound.options.filter != nil || bound.options.search != nil
    traits.hasExpand = !bound.options.expand.isEmpty
    traits.pageSize = pageSize
    // A delta does not say which entity its contained entities belong to.
    traits.wantsTracking = tracksChanges && container == nil
    if key.isEmpty || changes != nil || bound.options.count != nil { traits.counting = .denied }
    if key.isEmpty || changes != nil { traits.paging = .denied }
    let capabilities = ServiceCapabilities(binder.model, source: source)
    self.traits = capabilities.add(to: traits)
  }

  /// The tables that the download writes; nil if the model does not say.
  var writtenTables: Set<Int>? { container.map { container in tables?.union([container.table]) } ?? tables }

  /// Throws `notSupported` if the query returns streams of entities that belong to no set or singleton.
  func checkStreams(_ plan: ReplicaPlan) throws(OfflineODataError) {
    for table in (tables ?? [table.number]).sorted().map({ plan.tables[$0] })
    where table.hasStreams && !table.hasReachableStreams {
      throw OfflineODataError(
        .unsupportedQuery,
        "the streams of \(table.name), whose entities are in no entity set, with a defining query; download them one by one"
      )
    }
  }

  /// Throws for a set or singleton whose type the metadata does not declare: nothing is known about its rows.
  private static func checkType(_ text: String, _ model: EdmModel) throws(OfflineODataError) {
    let name = String(text.prefix { !"/(?".contains($0) })
    guard let type = model.entitySet(name)?.entityType ?? model.singleton(name)?.type, model.structure(type) == nil
    else {
      return
    }
    throw OfflineODataError(
      .invalidDefiningQuery, "'\(text)': the metadata does not declare \(type), the type of '\(name)'")
  }

  private static func bind(_ text: String, _ binder: ODataBinder) throws(OfflineODataError) -> ODataBoundURL {
    do {
      let url = try ODataParser(binder.model.version).relativeURL(text)
      return try binder.bind(url, text: text)
    } catch { throw OfflineODataError(.invalidDefiningQuery, "'\(text)'", cause: error) }
  }

  /// Collects the tables behind `$expand`. Returns false if one of them is not known.
  private static func collect(_ options: ODataBoundOptions, _ plan: ReplicaPlan, _ collectedTables: inout Set<Int>)
    -> Bool
  {
    for item in options.expand {
      guard let source = item.path.source, let table = plan.table(of: source) else { return false }
      collectedTables.insert(table.number)
      if let inner = item.options, !collect(inner, plan, &collectedTables) { return false }
    }
    return true
  }
}

/// What the metadata says about an entity set's capabilities (Capabilities vocabulary; SAP's annotations of V2).
struct ServiceCapabilities: Sendable {
  private let model: EdmModel
  private let target: String?
  private let set: EdmEntitySet?
  private static let namespace = "Org.OData.Capabilities.V1."

  init(_ model: EdmModel, source: ODataBoundSource) {
    self.model = model
    let name = source.source.name
    set = source.containment.isEmpty ? model.entitySet(name) : nil
    let container = model.schemas.flatMap(\.containers).first { container in
      container.entitySets.contains { $0.name == name }
    }
    target = set == nil ? nil : container.map { "\($0.qualifiedName)/\(name)" }
  }

  /// Returns the traits with the annotated capabilities added.
  func add(to traits: QueryTraits) -> QueryTraits {
    var traits = traits
    traits.tracking = support("ChangeTracking", "Supported") ?? traits.tracking
    if traits.counting != .denied {
      traits.counting = support("CountRestrictions", "Countable") ?? sap("countable") ?? traits.counting
    }
    if traits.paging != .denied {
      let all = [support("TopSupported", nil), support("SkipSupported", nil), sap("pageable")]
      if all.contains(.denied) { traits.paging = .denied }
    }
    return traits
  }

  private func sap(_ name: String) -> QueryTraits.Support? {
    switch set?.sap(name) {
    case "true": .announced
    case "false": .denied
    default: nil
    }
  }

  /// The boolean value of a term, or of a property of its record.
  private func support(_ term: String, _ property: String?) -> QueryTraits.Support? {
    guard let target, let annotation = model.annotation(Self.namespace + term, target: target) else { return nil }
    guard let property else { return Self.bool(annotation.expression) ?? .announced }
    guard case .record(_, let values)? = annotation.expression else { return nil }
    guard let value = values.first(where: { $0.property == property }) else { return nil }
    return Self.bool(value.value) ?? .announced
  }

  private static func bool(_ value: EdmExpression?) -> QueryTraits.Support? {
    guard case .constant(.bool, let text)? = value else { return nil }
    return text == "true" || text == "1" ? .announced : .denied
  }
}
