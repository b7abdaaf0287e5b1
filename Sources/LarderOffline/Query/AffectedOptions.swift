import LarderOData

/// Binds the options of `$expand=AffectedEntity(…)`. Names in these options are properties of the entity's own type,
/// which differs from row to row.
///
/// An item of `$select`, `$expand` or `$compute` that does not fit a type is left out for entities of that type. The
/// result of a query of the queue therefore does not depend on which other requests are pending. An item that fits no
/// type of the service is an error, whatever the queue contains.
struct AffectedOptions: Sendable {
  /// A binder for the service's model, in the OData version of the query's text.
  let binder: ODataBinder
  /// The text of the query.
  let text: String

  /// The options as they are bound for each kind.
  struct Fitting: Sendable {
    var options: [AffectedKind: ODataBoundOptions] = [:]
  }

  /// Returns the service's entity type with a name.
  func entityType(_ name: String) throws -> EdmStructure {
    // The binder's error suggests the nearest name.
    _ = try binder.bind(kept: ODataQueryOptions(), on: name, from: nil, text: text)
    guard let type = binder.model.structure(name), type.isEntityType else {
      throw OfflineODataError(
        .unfittingURL, "'\(name)' in $expand=\(StoreModel.affected)/\(name) is not an entity type")
    }
    return type
  }

  /// Binds options to those kinds that have a type or derive from it. Nil means all types.
  func fitting(
    _ kept: ODataQueryOptions, to kinds: [AffectedKind], below cast: EdmStructure?, in plan: ReplicaPlan
  ) throws -> Fitting {
    var fitting = Fitting()
    var unfit: [Int: ODataBindingError]?
    func bindOptions(_ kind: AffectedKind) -> ODataBoundOptions? {
      let result = bound(kept, to: kind)
      guard let before = unfit else {
        unfit = result.unfit
        return result.options
      }
      unfit = [:]
      for (number, error) in before { unfit?[number] = result.unfit[number].map { furthest(error, $0) } }
      return result.options
    }
    let isMeant = { (kind: AffectedKind) in cast.map(kind.type.isOrDerives(from:)) ?? true }
    for kind in kinds where isMeant(kind) { fitting.options[kind] = bindOptions(kind) }
    if unfit?.isEmpty == true { return fitting }
    // A name that none of these types has may belong to another type of the service.
    for table in plan.tables {
      for kind in table.types.map({ AffectedKind(table: table, type: $0) })
      where isMeant(kind) && fitting.options[kind] == nil {
        _ = bindOptions(kind)
        if unfit?.isEmpty == true { return fitting }
      }
    }
    if let unfit, let error = unfit.min(by: { $0.key < $1.key })?.value { throw error }
    return fitting
  }

  /// Returns the error at the greater offset, because it says most: `Items($filter=…)` fails behind `Items` for a type
  /// that has `Items`. At equal offsets, the error that suggests a near name is preferred.
  private func furthest(_ left: ODataBindingError, _ right: ODataBindingError) -> ODataBindingError {
    let (before, now) = (left.offset ?? 0, right.offset ?? 0)
    if before != now { return now > before ? right : left }
    if case .unknownName(_, _, _, nearest: .some) = left.problem { return left }
    return right
  }

  /// Returns the options that fit a kind, and for each other item, by its number, the error that it caused.
  private func bound(
    _ kept: ODataQueryOptions, to kind: AffectedKind
  ) -> (options: ODataBoundOptions?, unfit: [Int: ODataBindingError]) {
    if let complete = try? bind(kept, kind) { return (complete, [:]) }
    var fit = ODataQueryOptions()
    fit.aliases = kept.aliases
    var unfit: [Int: ODataBindingError] = [:]
    var number = 0
    func addIfFitting(_ change: (inout ODataQueryOptions) -> Void, keeping: Bool = true) -> Bool {
      defer { number += 1 }
      var next = fit
      change(&next)
      do throws(ODataBindingError) { _ = try bind(next, kind) } catch {
        unfit[number] = error
        return false
      }
      if keeping { fit = next }
      return true
    }
    for item in kept.compute { _ = addIfFitting { $0.compute.append(item) } }
    for item in kept.expand { _ = addIfFitting { $0.expand.append(item) } }
    // Each item is bound alone: no item needs another, and there may be many.
    var selected = kept.select.filter { item in addIfFitting({ $0.select = [item] }, keeping: false) }
    // An empty `$select` would select everything. A type that has none of the names therefore selects its key.
    if !kept.select.isEmpty, selected.isEmpty { selected = key(of: kind) }
    fit.select = selected
    if let all = try? bind(fit, kind) { return (all, unfit) }
    // An item that fits alone, but not behind the items before it, does not fit.
    number -= kept.select.count
    fit.select = []
    for item in kept.select {
      if unfit[number] != nil { number += 1 } else { _ = addIfFitting { $0.select.append(item) } }
    }
    return (try? bind(fit, kind), unfit)
  }

  private func bind(_ kept: ODataQueryOptions, _ kind: AffectedKind) throws(ODataBindingError) -> ODataBoundOptions {
    try binder.bind(kept: kept, on: kind.type.name, from: kind.source, text: text)
  }

  private func key(of kind: AffectedKind) -> [ODataSelectItem] {
    kind.table.key.map { number in
      ODataSelectItem(ODataPath(kind.table.columns[number].path.map { ODataPathSegment(.name($0)) }))
    }
  }
}
