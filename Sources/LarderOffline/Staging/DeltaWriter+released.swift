import LarderOData
import LarderStorage

// Released rows: a delta may have removed the last reason why a query has them. They are examined at the end, when the
// whole delta has been applied.
extension DeltaWriter {
  /// A row that a query's result may no longer contain.
  struct Released: Hashable {
    let query: Int64
    let table: Int
    let row: Int64
  }

  /// A link that the columns of two rows imply and the delta denies, by a navigation property of the first row's table.
  struct DeniedLink: Hashable {
    let table: Int
    let navigation: Int
    let source: Int64
    let target: Int64
  }

  /// Whether a query still has a row.
  private enum Membership { case member, left, unknown }

  // MARK: Releasing

  mutating func release(_ row: Released) {
    guard places[row.query] != nil, isReleased.insert(row).inserted else { return }
    released.append(row)
  }

  /// Releases a row that an upload has moved, for the delta's own query. The row is already at its new place in the
  /// store, and the delta may not report that it has left the former one.
  mutating func release(moved reference: RowReference) {
    guard let table = plan.table(reference.table), let places = places[query], places.all.count > 1,
      places.tables.contains(table.number)
    else { return }
    release(Released(query: query, table: table.number, row: reference.row))
  }

  /// Releases the rows that a row holds by its navigation properties, or by one of them.
  ///
  /// - Parameter losingQuery: the query that loses the row; nil for all queries, if the row is deleted or its relations change.
  mutating func release(
    below table: Int, _ id: Int64, of losingQuery: Int64? = nil, along navigation: Int? = nil, _ connection: Connection
  ) throws(StorageError) {
    for (query, places) in places where losingQuery == nil || losingQuery == query {
      let navigations = places.navigations(from: plan.tables[table])
      // The store does not know which rows these links lead to.
      if places.isContradicted, !navigations.isEmpty { try doubt(query, connection) }
      for number in navigations where navigation == nil || navigation == number {
        let target = plan.tables[table].navigations[number].target
        for row in try reachedRows(from: id, of: table, number, query, connection) {
          release(Released(query: query, table: target, row: row))
        }
      }
    }
  }

  /// Releases the rows at the ends of a removed link.
  mutating func release(endsOf link: Int, _ source: Int64, _ target: Int64) {
    for (query, places) in places {
      for place in places.all {
        guard let enclosing = place.enclosing,
          case .links(link, let isForward) = plan.tables[places.all[enclosing.place].table].navigations[
            enclosing.navigation
          ]
          .relation
        else { continue }
        release(Released(query: query, table: place.table, row: isForward ? target : source))
      }
    }
  }

  /// Releases the rows that a row no longer leads to when its columns change. For other queries than the delta's own,
  /// the row itself is released too: their deltas only omit it.
  mutating func release(
    changed batch: PageBatch, _ row: Int, _ id: Int64, _ connection: Connection
  ) throws(StorageError) {
    let table = batch.table(of: row)
    for (query, places) in places where places.all.count > 1 {
      let columns = places.joiningColumns(of: table, plan).filter { batch.isPresent(row, $0) }.sorted()
      guard !columns.isEmpty, try differs(batch, row, from: id, in: columns, connection) else { continue }
      try release(below: table.number, id, of: query, connection)
      if query != self.query { release(Released(query: query, table: table.number, row: id)) }
    }
  }

  /// Whether a row of the store has other values in some columns.
  private func differs(
    _ batch: PageBatch, _ row: Int, from id: Int64, in columns: [Int], _ connection: Connection
  ) throws(StorageError) -> Bool {
    let table = batch.table(of: row)
    let terms = columns.indices.map { "\(TableDDL.quoted(table.columns[columns[$0]].name)) IS NOT ?\($0 + 2)" }
    let values = columns.map { batch.value(row, $0) }
    var isOther = false
    let sql = "SELECT 1 FROM \(name(table.number)) WHERE \"@id\" = ?1 AND (\(terms.joined(separator: " OR ")))"
    try connection.forEachRow(sql, [.integer(id)] + values) { (_) throws(StorageError) in
      isOther = true
      return false
    }
    return isOther
  }

  /// Releases the rows that are no longer members of a navigation property that the delta contains inline.
  mutating func release(omittedFrom batch: PageBatch, _ identities: [Int64], _ connection: Connection)
    throws(StorageError)
  {
    let members = Dictionary(grouping: batch.members) { $0.navigation }
    for complete in batch.completeNavigations {
      let table = batch.table(of: complete.source)
      let source = identities[complete.source]
      guard source != 0 else { continue }
      // The other members are behind a link.
      if batch.inlines.contains(where: { $0.parent == complete.source && $0.navigation == complete.navigation }) {
        try doubt(query, connection)
        continue
      }
      let remaining = Set((members[complete] ?? []).filter(\.isAdded).map { identities[$0.target] })
      try release(except: remaining, of: table, complete.navigation, source, connection)
    }
    for member in batch.members {
      let (source, target) = (identities[member.navigation.source], identities[member.target])
      let table = batch.table(of: member.navigation.source)
      if member.isAdded {
        try checkIsKnown(target, of: table, member.navigation.navigation, connection)
        allow(table, member.navigation.navigation, from: source, to: target)
      } else {
        deny(table, member.navigation.navigation, from: source, to: target)
      }
    }
  }

  private mutating func release(
    except remaining: Set<Int64>, of table: EntityTable, _ navigation: Int, _ source: Int64, _ connection: Connection
  ) throws(StorageError) {
    if places[query]?.isContradicted == true { try doubt(query, connection) }
    let target = table.navigations[navigation].target
    if table.navigations[navigation].relation == .containment {
      return try removeContained(except: remaining, in: target, below: source, connection)
    }
    for row in try reachedRows(from: source, of: table.number, navigation, query, connection)
    where !remaining.contains(row) {
      deny(table, navigation, from: source, to: row)
    }
  }

  /// Reads the query whole if a new member of an expanded collection is named by its id or key alone and the store did not
  /// have it (JSON Format 4.01 §8.5): its other properties are unknown, not null.
  private mutating func checkIsKnown(
    _ id: Int64, of table: EntityTable, _ navigation: Int, _ connection: Connection
  ) throws(StorageError) {
    guard table.navigations[navigation].isCollection, id == 0 || onlyKeys.contains(id),
      places[query]?.navigations(from: table).contains(navigation) == true,
      places[query]?.tables.contains(table.navigations[navigation].target) == true
    else { return }
    try doubt(query, connection)
  }

  /// Records that two rows are not linked, whatever their columns contain.
  mutating func deny(_ table: EntityTable, _ navigation: Int, from source: Int64, to target: Int64) {
    for link in linkFromBothEnds(table, navigation, from: source, to: target) {
      denied.insert(link)
      release(
        Released(query: query, table: plan.tables[link.table].navigations[link.navigation].target, row: link.target))
    }
  }

  mutating func allow(_ table: EntityTable, _ navigation: Int, from source: Int64, to target: Int64) {
    guard !denied.isEmpty else { return }
    for link in linkFromBothEnds(table, navigation, from: source, to: target) { denied.remove(link) }
  }

  /// The link from both ends, if columns join the rows. Empty for links with rows of their own, which are added and
  /// removed with them.
  private func linkFromBothEnds(_ table: EntityTable, _ navigation: Int, from source: Int64, to target: Int64)
    -> [DeniedLink]
  {
    guard case .columns(let pairs) = table.navigations[navigation].relation else { return [] }
    let back = pairs.map { ReplicaRelation.Pair(source: $0.target, target: $0.source) }
    let other = plan.tables[table.navigations[navigation].target]
    var links = [DeniedLink(table: table.number, navigation: navigation, source: source, target: target)]
    for (number, partner) in other.navigations.enumerated()
    where partner.target == table.number && partner.relation == .columns(back) {
      links.append(DeniedLink(table: other.number, navigation: number, source: target, target: source))
    }
    return links
  }

  // MARK: Examining

  /// Removes from their queries the released rows that their results no longer contain. Rows without a query are
  /// deleted.
  mutating func resolveReleased(_ connection: Connection) throws(StorageError) {
    var reexamined: Set<Released> = []
    while let row = released.popLast() {
      isReleased.remove(row)
      guard let bit = try bit(row.query, row.table, connection), try isMember(row, bit, connection) else { continue }
      switch try membership(row, connection) {
      case .member:
        // The row is still at one place, but may no longer hold others at another place.
        guard (places[row.query]?.places(in: row.table).count ?? 0) > 1, reexamined.insert(row).inserted else {
          continue
        }
        try release(below: row.table, row.row, of: row.query, connection)
      case .unknown: try doubt(row.query, connection)
      case .left: try leave(row, bit, connection)
      }
    }
  }

  private func isMember(_ row: Released, _ bit: Int64, _ connection: Connection) throws(StorageError) -> Bool {
    try connection.first(
      "SELECT 1 FROM \(name(row.table)) AS f WHERE \"@id\" = ?1 AND \(membershipCondition(row.query, row.table))",
      .integer(row.row), .integer(bit)
    ) { (_) throws(StorageError) in true } ?? false
  }

  /// The condition that a query has row `f`. A row created in the store belongs to this query if no other one reads its
  /// table.
  private func membershipCondition(_ query: Int64, _ table: Int) -> String {
    let includesLocalRows =
      query == self.query && !places.contains { $0.key != query && $0.value.tables.contains(table) }
    return includesLocalRows ? "(f.\"@queries\" & ?2 <> 0 OR f.\"@queries\" = 0)" : "f.\"@queries\" & ?2 <> 0"
  }

  private func membership(_ row: Released, _ connection: Connection) throws(StorageError) -> Membership {
    guard let places = places[row.query] else { return .member }
    guard places.isComplete else { return .unknown }
    var isUnknown = false
    for place in places.places(in: row.table) {
      switch try membership(row.row, at: place, places: places, query: row.query, connection: connection) {
      case .member: return .member
      case .unknown: isUnknown = true
      case .left: continue
      }
    }
    return isUnknown ? .unknown : .left
  }

  private func membership(
    _ id: Int64, at number: Int, places: QueryPlaces, query: Int64, connection: Connection
  ) throws(StorageError) -> Membership {
    let place = places.all[number]
    guard let enclosing = place.enclosing else {
      if query == self.query, left.contains(id) { return .left }
      // If the query has rows of the table at one place only, their bit decides.
      return places.hasAll || places.places(in: place.table).count == 1 ? .member : .unknown
    }
    let source = places.all[enclosing.place].table
    let isOnlyPlace = places.places(in: source).count == 1
    guard let bit = try bit(query, source, connection) else { return .left }
    var result = Membership.left
    let sql = related(source, enclosing.navigation, isForward: false, "f.\"@queries\" & ?2 <> 0")
    let ids = try connection.integers(sql, .integer(id), .integer(bit))
    for other in ids {
      let link = DeniedLink(table: source, navigation: enclosing.navigation, source: other, target: id)
      if query == self.query, denied.contains(link) { continue }
      let membership =
        isOnlyPlace
        ? .member : try membership(other, at: enclosing.place, places: places, query: query, connection: connection)
      if membership == .member { return place.isExact ? .member : .unknown }
      if membership == .unknown { result = .unknown }
    }
    return result
  }

  /// The rows of a query that a row leads to.
  private func reachedRows(
    from id: Int64, of table: Int, _ navigation: Int, _ query: Int64, _ connection: Connection
  ) throws(StorageError) -> [Int64] {
    let target = plan.tables[table].navigations[navigation].target
    guard let bit = try bit(query, target, connection) else { return [] }
    let sql = related(table, navigation, isForward: true, membershipCondition(query, target))
    return try connection.integers(sql, .integer(id), .integer(bit))
  }

  /// Selects the rows `f` at the other end of a navigation property, in either direction.
  private func related(_ table: Int, _ navigation: Int, isForward: Bool, _ membershipCondition: String) -> String {
    let property = plan.tables[table].navigations[navigation]
    let (source, target) = (name(table), name(property.target))
    let (near, far) = isForward ? (source, target) : (target, source)
    func joined(_ on: String) -> String {
      "SELECT f.\"@id\" FROM \(near) AS n CROSS JOIN \(far) AS f ON \(on) WHERE n.\"@id\" = ?1 AND \(membershipCondition)"
    }
    switch property.relation {
    case .columns(let pairs):
      let equal = pairs.map { pair in
        let left = TableDDL.quoted(plan.tables[table].columns[pair.source].name)
        let right = TableDDL.quoted(plan.tables[property.target].columns[pair.target].name)
        return isForward ? "f.\(right) = n.\(left)" : "f.\(left) = n.\(right)"
      }
      return joined(equal.joined(separator: " AND "))
    case .containment: return joined(isForward ? "f.\"@parent\" = n.\"@id\"" : "f.\"@id\" = n.\"@parent\"")
    case .container: return joined(isForward ? "f.\"@id\" = n.\"@parent\"" : "f.\"@parent\" = n.\"@id\"")
    case .links(let link, let isFromSource):
      let (here, there) = isForward == isFromSource ? ("source", "target") : ("target", "source")
      return """
        SELECT f."@id" FROM \(linkName(link)) AS l CROSS JOIN \(far) AS f ON f."@id" = l.\(there)
        WHERE l.\(here) = ?1 AND \(membershipCondition)
        """
    }
  }

  /// The bit of a query in a table, as a mask; nil if it has none.
  private func bit(_ query: Int64, _ table: Int, _ connection: Connection) throws(StorageError) -> Int64? {
    try connection.bit(of: query, in: plan.tables[table].name).map { 1 << $0 }
  }

  /// Handles a query whose rows cannot be determined: it is read as a whole, now or by its next download.
  mutating func doubt(_ query: Int64, _ connection: Connection) throws(StorageError) {
    guard query != self.query else { return isIncomplete = true }
    try connection.readWhole(query)
  }
}
