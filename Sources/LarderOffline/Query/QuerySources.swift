import LarderOData

/// SQL that a query uses in place of the tables of its plan, if those are not tables of the database file.
struct QuerySources: Sendable {
  /// The SQL for each table, by the number of the table.
  var tables: [Int: SQLText] = [:]
  /// The SQL for each set of links, by the number of the links.
  var links: [Int: SQLText] = [:]
  /// The target of a navigation property that can lead to entities of any type.
  var affected: AffectedEntities?
}
