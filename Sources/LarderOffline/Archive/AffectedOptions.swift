import LarderOData

/// Binds the options of `$expand=AffectedEntity(…)`: names in them are those of the entity's own type, and that is another
/// one from row to row.
///
/// An item of `$select`, `$expand` or `$compute` that does not fit a type is left out for entities of that type: what a
/// question of the queue answers does not depend on which other requests wait. An item that fits no type of the service is
/// an error, whatever is in the queue.
struct AffectedOptions: Sendable {
  /// Of the service's model, in the words that the question was asked in.
  let binder: ODataBinder
  /// The question.
  let text: String

  /// Options as they are bound to each kind.
  struct Fitting: Sendable {
    var options: [AffectedKind: ODataBoundOptions] = [:]
  }

  /// An entity type of the service by its name.
  func entityType(_ name: String) throws -> EdmStructure {
    // The binder's error tells the nearest name.
    _ = try binder.bind(kept: ODataQueryOptions(), on: name, from: nil, text: text)
    guard let type = binder.model.structure(name), type.isEntityType else {
      throw OfflineODataError(.unfittingURL, "'\(name)' in $expand=\(StoreModel.affected)/\(name) is no entity type")
    }
    return type
  }

  /// Binds options to those kinds that are of a type or below it; nil stands for all types.
  func fitting(
    _ kept: ODataQueryOptions, to kinds: [AffectedKind], below cast: EdmStructure?, in plan: ReplicaPlan
  ) throws -> Fitting {
    var fitting = Fitting()
    var unfit: [Int: ODataBindingError]?
    func take(_ kind: AffectedKind) -> ODataBoundOptions? {
      let found = bound(kept, to: kind)
      guard let before = unfit else {
        unfit = found.unfit
        return found.options
      }
      unfit = [:]
      for (number, error) in before { unfit?[number] = found.unfit[number].map { furthest(error, $0) } }
      return found.options
    }
    let isMeant = { (kind: AffectedKind) in cast.map(kind.type.isOrDerives(from:)) ?? true }
    for kind in kinds where isMeant(kind) { fitting.options[kind] = take(kind) }
    if unfit?.isEmpty == true { return fitting }
    // What none of these has, another type of the service may have.
    for table in plan.tables {
      for kind in table.types.map({ AffectedKind(table: table, type: $0) })
      where isMeant(kind) && fitting.options[kind] == nil {
        _ = take(kind)
        if unfit?.isEmpty == true { return fitting }
      }
    }
    if let unfit, let error = unfit.min(by: { $0.key < $1.key })?.value { throw error }
    return fitting
  }

  /// What came furthest says most: `Items($filter=…)` fails behind `Items` where there are some. At one place it is what tells
  /// a name that is near.
  private func furthest(_ left: ODataBindingError, _ right: ODataBindingError) -> ODataBindingError {
    let (before, now) = (left.offset ?? 0, right.offset ?? 0)
    if before != now { return now > before ? right : left }
    if case .unknownName(_, _, _, nearest: .some) = left.problem { return left }
    return right
  }

  /// What fits a kind, and why other items do not, by their numbers.
  private func bound(
    _ kept: ODataQueryOptions, to kind: AffectedKind
  ) -> (options: ODataBoundOptions?, unfit: [Int: ODataBindingError]) {
    if let whole = try? bind(kept, kind) { return (whole, [:]) }
    var fit = ODataQueryOptions()
    fit.aliases = kept.aliases
    var unfit: [Int: ODataBindingError] = [:]
    var number = 0
    func takeIfFitting(_ change: (inout ODataQueryOptions) -> Void, keeping: Bool = true) -> Bool {
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
    for item in kept.compute { _ = takeIfFitting { $0.compute.append(item) } }
    for item in kept.expand { _ = takeIfFitting { $0.expand.append(item) } }
    // Each for itself: none needs another, and they may be many.
    var selected = kept.select.filter { item in takeIfFitting({ $0.select = [item] }, keeping: false) }
    // Nothing selected would be all: one that has none of the names tells which it is.
    if !kept.select.isEmpty, selected.isEmpty { selected = key(of: kind) }
    fit.select = selected
    if let all = try? bind(fit, kind) { return (all, unfit) }
    // What fits by itself and not behind those before it does not fit.
    number -= kept.select.count
    fit.select = []
    for item in kept.select {
      if unfit[number] != nil { number += 1 } else { _ = takeIfFitting { $0.select.append(item) } }
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
