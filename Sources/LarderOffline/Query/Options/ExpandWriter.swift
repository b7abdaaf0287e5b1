import LarderOData
import LarderStorage

/// Writes `$expand` (URL Conventions 4.01 §5.1.3): a plan for each navigation property, which runs once for each row of
/// the enclosing statement.
struct ExpandWriter {
  let statement: SelectStatement
  /// `$it`
  let it: Scope

  /// The largest allowed value of `$levels`. `$levels=max` uses this limit, and stops earlier at a cycle.
  private static let maximumLevels = 20
  /// The limit for `$expand=*`, which expands every navigation property at each level.
  private static let maximumLevelsOfAll = 3

  func expands(_ items: [ODataBoundExpandItem], of scope: Scope) throws -> [ReadExpand] {
    var expands: [ReadExpand] = []
    let named = Set(items.compactMap { name(of: $0) })
    let ofAnyType = items.filter(leadsToAnyType)
    for item in items {
      if case .star? = item.path.segments.last?.kind {
        expands += try all(item, of: scope, without: named)
      } else if leadsToAnyType(item) {
        if item == ofAnyType.first { expands += try expandAny(ofAnyType, of: scope) }
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
    if let (name, computed) = computedMember(item, of: scope) {
      return [
        try expandComputed(
          [name], computed: computed, options: item.options, content: item.content, from: item.path.source)
      ]
    }
    guard case .entity(var owner) = scope else { throw OfflineODataError.unsupported("$expand here") }
    var path: [String] = []
    var target: EdmStructure?
    var cast: EdmStructure?
    var hasNavigated = false
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
        hasNavigated = true
      default: throw OfflineODataError.unsupported(describe(segment.kind) + " in $expand")
      }
    }
    let expand = Expand(path: path, target: target, cast: cast, item: item)
    return try self.expand(expand, of: owner, declared: scope).map { [$0] } ?? []
  }

  private func leadsToAnyType(_ item: ODataBoundExpandItem) -> Bool {
    item.path.segments.contains { segment in
      guard case .navigation(let navigation) = segment.kind else { return false }
      return navigation.property.type == .abstract(.entityType)
    }
  }

  /// Expands a navigation property to entities of any type. Several items may name it, each for another type.
  private func expandAny(_ items: [ODataBoundExpandItem], of scope: Scope) throws -> [ReadExpand] {
    let name = items.lazy.compactMap { self.name(of: $0) }.first ?? ""
    guard let affected = statement.context.sources.affected, case .entity(let owner) = scope else {
      throw OfflineODataError.unsupported("'\(name)', which can lead to entities of any type")
    }
    guard items.allSatisfy({ $0.content != .count && ($0.options ?? ODataBoundOptions()) == ODataBoundOptions() })
    else {
      throw OfflineODataError.unsupported("options of $expand=\(name) other than $compute, $expand and $select")
    }
    return try affected.expands([name], items, of: owner, in: statement)
  }

  /// The parts of an item of `$expand`.
  private struct Expand {
    let path: [String]
    let target: EdmStructure?
    let cast: EdmStructure?
    let item: ODataBoundExpandItem
  }

  /// The plan of an item; nil if no row has the property: a level of `$levels` may have another type.
  private func expand(_ expand: Expand, of owner: EntityScope, declared: Scope) throws -> ReadExpand? {
    guard let navigation = owner.table.navigation(expand.path, on: owner.type) else {
      throw OfflineODataError.unsupported(
        "'\(expand.path.joined(separator: "/"))', which does not lead to a table, in $expand")
    }
    guard let types = types(of: navigation, owner) else { return nil }
    let child = try SelectStatement(statement.context, outer: statement)
    let writer = ExpressionWriter(statement: child, environment: Environment())
    var rows = RelatedRows()
    var plain = owner
    plain.guardedBy = nil
    var entity = try writer.related(expand.path, of: plain, as: expand.target, &rows)
    if let cast = expand.cast {
      if let numbers = writer.narrowingTypes(cast, in: entity.table, known: entity.type) {
        rows.conditions.append(try writer.typeCondition(numbers, entity))
      }
      entity.type = cast
    }
    let set = RowSet(
      rows: rows, scope: .entity(entity), source: expand.item.path.source, isSingle: !navigation.isCollection)
    let (options, isMax) = try next(expand.item, of: entity, in: child)
    let plan = try PlanWriter(statement: child, it: it).plan(
      set, options, as: resultKind(expand.item.content))
    return ReadExpand(
      path: expand.path, isCollection: navigation.isCollection, content: expand.item.content, types: types, plan: plan,
      stopsAtCycles: isMax)
  }

  private func resultKind(_ content: ODataBoundExpandItem.Content) -> PlanWriter.ResultKind {
    switch content {
    case .references: .references
    case .count: .count
    case .entities, .stream: .objects
    }
  }

  /// The types whose rows have a property: `.some(nil)` if all types have it.
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

  /// The options for an item's entities. If `$levels` allows another level, their `$expand` contains the item again.
  private func next(
    _ item: ODataBoundExpandItem, of entity: EntityScope, in child: SelectStatement
  ) throws -> (options: ODataBoundOptions?, isMax: Bool) {
    guard var options = item.options, let levels = options.levels else { return (item.options, false) }
    var again = item
    let remainingLevels: Int
    switch levels {
    case .max:
      // The limit applies to the total number of levels, wherever `$levels=max` starts.
      remainingLevels = statement.levels[item.path] ?? maximumLevels(item)
      child.levels = statement.levels
      child.levels[item.path] = remainingLevels - 1
    case .count(let count):
      guard count <= ExpandWriter.maximumLevels else {
        throw OfflineODataError.unsupported("$levels=\(count), more than \(ExpandWriter.maximumLevels)")
      }
      remainingLevels = count
      again.options?.levels = .count(count - 1)
    }
    options.levels = nil
    if remainingLevels > 1, leadsOn(item.path.segments.first?.kind, from: entity) { options.expand.append(again) }
    return (options, levels == .max)
  }

  private func maximumLevels(_ item: ODataBoundExpandItem) -> Int {
    if case .star? = item.path.segments.last?.kind {
      ExpandWriter.maximumLevelsOfAll
    } else {
      ExpandWriter.maximumLevels
    }
  }

  /// Whether the expanded entities have the property too.
  private func leadsOn(_ kind: ODataBoundSegment.Kind?, from entity: EntityScope) -> Bool {
    switch kind {
    case .navigation(let navigation): entity.table.navigation([navigation.name]) != nil
    case .cast(let type): !entity.table.typeNumbers(derivedFrom: type).isEmpty
    case .property(let property): entity.table.column([property.name]) != nil
    default: true
    }
  }

  // MARK: *

  /// Expands `*`: the navigation properties of the type, except those that have an item of their own.
  private func all(
    _ item: ODataBoundExpandItem, of scope: Scope, without named: Set<String>
  ) throws -> [ReadExpand] {
    guard case .entity(let owner) = scope else { throw OfflineODataError.unsupported("$expand=* here") }
    var expands: [ReadExpand] = []
    for navigation in owner.table.navigations where navigation.path.count == 1 {
      guard owner.type.isOrDerives(from: navigation.declaringType), !named.contains(navigation.property.name) else {
        continue
      }
      let target = navigation.property.type.name.flatMap { statement.context.plan.model.structure($0) }
      let expand = Expand(path: navigation.path, target: target, cast: nil, item: item)
      if let read = try self.expand(expand, of: owner, declared: scope) { expands.append(read) }
    }
    if let affected = statement.context.sources.affected, !named.contains(StoreModel.affected),
      owner.type.navigationProperty(StoreModel.affected) != nil
    {
      expands += try affected.expands([StoreModel.affected], [item], of: owner, in: statement)
    }
    return expands
  }

  // MARK: Members computed by $apply

  /// The entity or collection that `$crossjoin` or `$apply` computed and that an item names.
  private func computedMember(_ item: ODataBoundExpandItem, of scope: Scope) -> (name: String, scope: Scope)? {
    guard item.path.segments.count == 1 else { return nil }
    let name: String
    switch item.path.segments.first?.kind {
    case .computed(let alias): name = alias
    case .navigation(let navigation): name = navigation.name
    default: return nil
    }
    let computed: Scope? =
      switch scope {
      case .row(let members): members[name]
      case .entity(let owner): owner.computed[name]
      default: nil
      }
    switch computed {
    case .entity?, .nested?: return computed.map { (name, $0) }
    default: return nil
    }
  }

  /// The members of an entity that are shown inline without an item in `$expand`.
  func inLine(_ entity: EntityScope, _ selection: Selection, without expanded: Set<String>) throws -> [ReadExpand] {
    var expands: [ReadExpand] = []
    for name in entity.computed.keys.sorted() where !expanded.contains(name) && selection.shows(name) {
      switch entity.computed[name] {
      case .entity? where !entity.inLine.contains(name): continue
      case .entity(let other)?:
        expands.append(
          try expandComputed([name], computed: .entity(other), options: nil, content: .entities, from: nil))
      case .nested(let nested)?:
        expands.append(
          try expandComputed([name], computed: .nested(nested), options: nil, content: .entities, from: nil))
      case .row(let members)?: expands += try inLine(members, members.names, at: [name])
      default: continue
      }
    }
    return expands
  }

  /// The members of a computed row that are shown inline without an item in `$expand`, including those of nested
  /// objects.
  func inLine(_ members: ComputedRow, _ names: [String], at path: [String] = []) throws -> [ReadExpand] {
    var expands: [ReadExpand] = []
    for name in names {
      let place = path + [name]
      var memberExpands: [ReadExpand] = []
      switch members[name] {
      case .entity? where !members.inLine.contains(name): continue
      case .entity(let entity)?:
        memberExpands = [
          try expandComputed(place, computed: .entity(entity), options: nil, content: .entities, from: nil)
        ]
      case .nested(let nested)?:
        memberExpands = [
          try expandComputed(place, computed: .nested(nested), options: nil, content: .entities, from: nil)
        ]
      case .row(let inner)?: memberExpands = try inLine(inner, inner.names, at: place)
      default: continue
      }
      if let kinds = members.kinds[name] {
        for place in memberExpands.indices { memberExpands[place].types = kinds }
      }
      expands += memberExpands
    }
    return expands
  }

  private func expandComputed(
    _ path: [String], computed: Scope, options: ODataBoundOptions?, content: ODataBoundExpandItem.Content,
    from source: ODataBoundSource?
  ) throws -> ReadExpand {
    let child = try SelectStatement(statement.context, outer: statement)
    let writer = NestedWriter(statement: child, it: it)
    switch computed {
    case .nested(let nested):
      let set = try writer.rows(nested)
      let plan = try PlanWriter(statement: child, it: it).plan(set, options, as: resultKind(content))
      var expand = ReadExpand(path: path, isCollection: true, content: content, plan: plan)
      expand.isComputed = true
      expand.source = nested.source
      return expand
    case .entity(let entity):
      var set = try writer.rows(NestedRows(origin: .item(.entity(entity), statement)))
      set.source = source
      set.isSingle = true
      let plan = try PlanWriter(statement: child, it: it).plan(set, options, as: resultKind(content))
      return ReadExpand(path: path, isCollection: false, content: content, plan: plan)
    default: throw OfflineODataError.unsupported("'\(path.joined(separator: "/"))' shown inline")
    }
  }
}
