import OData
import Storage

/// Writes `$expand` (URL Conventions 4.01 §5.1.3): a plan for each navigation property, run once a row of the statement around.
struct ExpandWriter {
  let statement: Statement
  /// `$it`
  let it: Scope

  /// More levels than `$levels` may ask for; `max` stands for so many, and ends where data goes in a circle.
  private static let mostLevels = 20
  /// The same for `*`, which branches at each level.
  private static let mostLevelsOfAll = 3

  func expands(_ items: [ODataBoundExpandItem], of scope: Scope) throws -> [ReadExpand] {
    var expands: [ReadExpand] = []
    let named = Set(items.compactMap { name(of: $0) })
    for item in items {
      if case .star? = item.path.segments.last?.kind {
        expands += try all(item, of: scope, without: named)
      } else {
        expands += try expand(item, of: scope)
      }
    }
    return expands
  }

  private func name(of item: ODataBoundExpandItem) -> String? {
    for segment in item.path.segments {
      if case .navigation(let navigation) = segment.kind { return navigation.name }
    }
    return nil
  }

  // MARK: One item

  private func expand(_ item: ODataBoundExpandItem, of scope: Scope) throws -> [ReadExpand] {
    if item.content == .stream { throw OfflineODataError.unsupported("$expand of a stream") }
    if let (name, entity) = made(item, of: scope) {
      return [try made(name, entity, item.options, item.content, from: item.path.source)]
    }
    guard case .entity(var owner) = scope else { throw OfflineODataError.unsupported("$expand here") }
    var path: [String] = []
    var target: EdmStructure?
    var cast: EdmStructure?
    var hasNavigated = false
    var isAny = false
    for segment in item.path.segments {
      switch segment.kind {
      case .cast(let type) where hasNavigated: cast = type
      case .cast(let type) where path.isEmpty: owner.type = type
      // A navigation property of a derived complex type has its own path.
      case .cast: break
      case .property(let property): path.append(property.name)
      case .navigation(let navigation):
        path.append(navigation.name)
        target = navigation.type.structure
        isAny = navigation.property.type == .abstract(.entityType)
        hasNavigated = true
      default: throw OfflineODataError.unsupported(describe(segment.kind) + " in $expand")
      }
    }
    if isAny { return try expandAny(path, item, of: owner) }
    let expand = Expand(path: path, target: target, cast: cast, item: item)
    return try self.expand(expand, of: owner, declared: scope).map { [$0] } ?? []
  }

  /// A navigation property to entities of any type.
  private func expandAny(
    _ path: [String], _ item: ODataBoundExpandItem, of owner: EntityScope
  ) throws -> [ReadExpand] {
    guard let affected = statement.question.sources.affected else {
      throw OfflineODataError.unsupported("'\(path.joined(separator: "/"))', which leads to entities of any type")
    }
    guard item.content != .count, item.options.map({ $0 == ODataBoundOptions() }) ?? true else {
      throw OfflineODataError.unsupported("options of $expand=\(path.joined(separator: "/"))")
    }
    return try affected.expands(path, item.content, of: owner, in: statement)
  }

  /// What an item says, put together.
  private struct Expand {
    let path: [String]
    let target: EdmStructure?
    let cast: EdmStructure?
    let item: ODataBoundExpandItem
  }

  /// Nil where no row has the property: a level of `$levels` of another type.
  private func expand(_ expand: Expand, of owner: EntityScope, declared: Scope) throws -> ReadExpand? {
    guard let navigation = owner.table.navigation(expand.path, on: owner.type) else {
      throw OfflineODataError.unsupported(
        "'\(expand.path.joined(separator: "/"))', which leads to no table, in $expand")
    }
    guard let types = types(of: navigation, owner) else { return nil }
    let child = try Statement(statement.question, outer: statement)
    let writer = ExpressionWriter(statement: child, environment: Environment())
    var rows = RelatedRows()
    var plain = owner
    plain.guardedBy = nil
    var entity = try writer.related(expand.path, of: plain, as: expand.target, &rows)
    if let cast = expand.cast {
      if let numbers = writer.narrowing(cast, in: entity.table, known: entity.type) {
        rows.conditions.append(try writer.typeCondition(numbers, entity))
      }
      entity.type = cast
    }
    let set = RowSet(
      rows: rows, scope: .entity(entity), source: expand.item.path.source, isSingle: !navigation.isCollection)
    let (options, isMax) = try next(expand.item, of: entity, in: child)
    let plan = try PlanWriter(statement: child, it: it).plan(
      set, options, as: answer(expand.item.content))
    return ReadExpand(
      path: expand.path, isCollection: navigation.isCollection, content: expand.item.content, types: types, plan: plan,
      stopsAtCycles: isMax)
  }

  private func answer(_ content: ODataBoundExpandItem.Content) -> PlanWriter.Answer {
    switch content {
    case .references: .references
    case .count: .count
    case .entities, .stream: .objects
    }
  }

  /// The types whose rows have a property: `.some(nil)` for all.
  private func types(of navigation: ReplicaNavigation, _ owner: EntityScope) -> Set<Int>?? {
    let table = owner.table
    let numbers = Set(table.typeNumbers(derivedFrom: owner.type))
      .intersection(
        owner.type.isOrDerives(from: navigation.declaringType)
          ? table.types.indices.map { $0 } : table.typeNumbers(derivedFrom: navigation.declaringType))
    if numbers.isEmpty { return nil }
    return numbers.count == table.types.count ? .some(nil) : .some(numbers)
  }

  // MARK: Levels

  /// The options of an item's entities: where `$levels` goes on, with the item once more in their `$expand`.
  private func next(
    _ item: ODataBoundExpandItem, of entity: EntityScope, in child: Statement
  ) throws -> (options: ODataBoundOptions?, isMax: Bool) {
    guard var options = item.options, let levels = options.levels else { return (item.options, false) }
    var again = item
    let left: Int
    switch levels {
    case .max:
      // So many levels, wherever the first one is.
      left = statement.levels[item.path] ?? mostLevels(item)
      child.levels = statement.levels
      child.levels[item.path] = left - 1
    case .count(let count):
      guard count <= ExpandWriter.mostLevels else {
        throw OfflineODataError.unsupported("$levels=\(count), more than \(ExpandWriter.mostLevels)")
      }
      left = count
      again.options?.levels = .count(count - 1)
    }
    options.levels = nil
    if left > 1, leadsOn(item.path.segments.first?.kind, from: entity) { options.expand.append(again) }
    return (options, levels == .max)
  }

  private func mostLevels(_ item: ODataBoundExpandItem) -> Int {
    if case .star? = item.path.segments.last?.kind { ExpandWriter.mostLevelsOfAll } else { ExpandWriter.mostLevels }
  }

  /// Whether the entities that were reached have the property themselves.
  private func leadsOn(_ kind: ODataBoundSegment.Kind?, from entity: EntityScope) -> Bool {
    switch kind {
    case .navigation(let navigation): entity.table.navigation([navigation.name]) != nil
    case .cast(let type): !entity.table.typeNumbers(derivedFrom: type).isEmpty
    case .property(let property): entity.table.column([property.name]) != nil
    default: true
    }
  }

  // MARK: All

  /// `*`: the navigation properties of the type, but for those that have an item of their own.
  private func all(
    _ item: ODataBoundExpandItem, of scope: Scope, without named: Set<String>
  ) throws -> [ReadExpand] {
    guard case .entity(let owner) = scope else { throw OfflineODataError.unsupported("$expand=* here") }
    var expands: [ReadExpand] = []
    for navigation in owner.table.navigations where navigation.path.count == 1 {
      guard owner.type.isOrDerives(from: navigation.declaringType), !named.contains(navigation.property.name) else {
        continue
      }
      let target = navigation.property.type.name.flatMap { statement.question.plan.model.structure($0) }
      let expand = Expand(path: navigation.path, target: target, cast: nil, item: item)
      if let made = try self.expand(expand, of: owner, declared: scope) { expands.append(made) }
    }
    if let affected = statement.question.sources.affected, !named.contains(StoreModel.affected),
      owner.type.navigationProperty(StoreModel.affected) != nil
    {
      expands += try affected.expands([StoreModel.affected], .entities, of: owner, in: statement)
    }
    return expands
  }

  // MARK: Made entities

  /// An entity that `$crossjoin` or `$apply` gave a name.
  private func made(_ item: ODataBoundExpandItem, of scope: Scope) -> (name: String, entity: EntityScope)? {
    guard item.path.segments.count == 1 else { return nil }
    let name: String
    switch item.path.segments.first?.kind {
    case .computed(let given): name = given
    case .navigation(let navigation): name = navigation.name
    default: return nil
    }
    let found: Scope? =
      switch scope {
      case .row(let members): members[name]
      case .entity(let owner): owner.computed[name]
      default: nil
      }
    guard case .entity(let entity)? = found else { return nil }
    return (name, entity)
  }

  /// An entity of a row as it is shown where nothing is said of it.
  func made(_ name: String, of members: MadeRow) throws -> ReadExpand {
    guard case .entity(let entity)? = members[name] else {
      throw OfflineODataError.unsupported("'\(name)' in line")
    }
    return try made(name, entity, nil, .entities, from: nil)
  }

  private func made(
    _ name: String, _ entity: EntityScope, _ options: ODataBoundOptions?, _ content: ODataBoundExpandItem.Content,
    from source: ODataBoundSource?
  ) throws -> ReadExpand {
    let child = try Statement(statement.question, outer: statement)
    let question = statement.question
    let alias = question.alias()
    let inner = EntityScope(home: child, alias: alias, table: entity.table, type: entity.type)
    let writer = ExpressionWriter(statement: child, environment: Environment())
    let id = try writer.system(.id, of: entity)
    let rows = RelatedRows(
      tables: ["\(try question.table(entity.table.number)) AS \(alias: alias)"],
      conditions: ["\(try writer.system(.id, of: inner)) = \(id)"])
    let set = RowSet(rows: rows, scope: .entity(inner), source: source, isSingle: true)
    let plan = try PlanWriter(statement: child, it: it).plan(set, options, as: answer(content))
    return ReadExpand(path: [name], isCollection: false, content: content, plan: plan)
  }
}
