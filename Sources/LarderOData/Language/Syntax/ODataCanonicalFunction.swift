/// The functions that can be called on every service by their unqualified names (URL Conventions 4.01 §5.1.1.5 to
/// §5.1.1.12; OData V2 URI Conventions §4.5). `cast`, `isof`, `case` and `isdefined` are separate expressions.
package enum ODataCanonicalFunction: String, Sendable, Hashable, CaseIterable {
  /// Joins strings or collections.
  case concat
  /// Whether a string contains another (V4).
  case contains
  /// Whether a string ends with another.
  case endswith
  /// The number of characters before the first occurrence; -1 if there is none.
  case indexof
  /// The number of characters of a string, or of items of a collection.
  case length
  /// Whether a string matches a regular expression (4.01).
  case matchesPattern
  /// Whether a string begins with another.
  case startswith
  /// A part of a string or collection.
  case substring
  /// Whether the second string contains the first (V2).
  case substringof
  /// Replaces all occurrences (V2).
  case replace
  /// Lower case.
  case tolower
  /// Upper case.
  case toupper
  /// A string without white space at both ends.
  case trim
  /// Whether a collection contains all items of another, in any order (4.01).
  case hassubset
  /// Whether a collection contains the items of another in their order (4.01).
  case hassubsequence
  /// The date of a timestamp (V4).
  case date
  /// The day of the month.
  case day
  /// The fraction of a second (V4).
  case fractionalseconds
  /// The hour.
  case hour
  /// The latest timestamp (V4).
  case maxdatetime
  /// The earliest timestamp (V4).
  case mindatetime
  /// The minute.
  case minute
  /// The month.
  case month
  /// The current timestamp (V4).
  case now
  /// The second.
  case second
  /// The time of day of a timestamp (V4).
  case time
  /// The offset of a timestamp from UTC (V4).
  case totaloffsetminutes
  /// The seconds of a duration (V4).
  case totalseconds
  /// The year.
  case year
  /// The next whole number above.
  case ceiling
  /// The next whole number below.
  case floor
  /// The nearest whole number.
  case round
  /// The shortest distance of two points (V3, V4).
  case geoDistance = "geo.distance"
  /// Whether a point is in a polygon (V3, V4).
  case geoIntersects = "geo.intersects"
  /// The length of a line (V3, V4).
  case geoLength = "geo.length"

  /// The allowed numbers of arguments, in the dialect.
  package func arity(_ dialect: ODataDialect) -> ClosedRange<Int> {
    switch self {
    case .maxdatetime, .mindatetime, .now: 0...0
    case .concat: dialect == .v2 ? 2...Int.max : 2...2
    case .contains, .endswith, .indexof, .matchesPattern, .startswith, .substringof, .hassubset, .hassubsequence,
      .geoDistance, .geoIntersects:
      2...2
    case .substring: 2...3
    case .replace: 3...3
    default: 1...1
    }
  }

  /// Whether the dialect has the function. `geo.` came with V3, which shares V2's dialect.
  package func belongs(to dialect: ODataDialect) -> Bool {
    switch self {
    case .substringof, .replace: dialect == .v2
    case .contains, .matchesPattern, .hassubset, .hassubsequence, .date, .fractionalseconds, .maxdatetime, .mindatetime,
      .now, .time, .totaloffsetminutes, .totalseconds:
      dialect == .v4
    default: true
    }
  }
}

extension ODataCanonicalFunction {
  /// The function that a mistyped name most likely means; nil if none is near.
  static func nearest(to name: String) -> String? { NearestName.find(name, among: allCases.map(\.rawValue)) }
}
