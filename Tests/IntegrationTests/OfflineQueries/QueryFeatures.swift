/// The parts of the query language that a service supports: it is not sent queries that it rejects by design.
struct QueryFeatures: Sendable {
  /// The canonical functions, by name.
  var functions: Set<String> = []
  /// `add`, `sub`, `mul`, `div`, `divby`, `mod`.
  var arithmetic: [String] = []
  /// Arithmetic in parentheses, so that operators nest.
  var hasParentheses = true
  var hasLambdas = false
  /// `$filter` and `$orderby` through navigation properties.
  var hasNavigationPaths = false
  /// `Collection/$count` in expressions.
  var hasCountInPaths = false
  /// Types as segments, and `isof`.
  var hasCasts = false
  var hasIn = false
  /// Enumeration literals and `has`.
  var hasEnumerations = false
  /// Properties as operands on both sides.
  var comparesProperties = true
  /// `$orderby` by expressions other than paths.
  var ordersByExpressions = false
  /// Options in parentheses behind a navigation property in `$expand`.
  var expandOptions: Set<String> = []
  /// `$select` by path into complex properties.
  var selectsPaths = false
  /// `/Property`, `/$value`.
  var hasProperties = true
  var hasReferences = false
  var hasSearch = false
  var hasCompute = false
  var hasCrossjoin = false
  /// Arithmetic of timestamps or dates and durations.
  var hasDateArithmetic = false
  /// `geo.distance` on the plane.
  var hasGeo = false
  /// `$expand` of the navigation property that led to an entity, at another level.
  var expandsAgain = true
  /// The aggregation methods of `$apply`; empty if the service does not support `$apply`.
  var aggregates: [String] = []
  /// `filter(…)/groupby(…)` and the like.
  var applySteps: Set<String> = []
  /// A key after a collection-valued navigation property.
  var keysBehindNavigation = false

  /// SAP Gateway's V2 as `mock-sap` speaks it.
  static let mockSAPV2 = QueryFeatures(
    functions: [
      "substringof", "startswith", "endswith", "indexof", "tolower", "toupper", "trim", "length", "concat",
      "substring", "year", "month", "day", "hour", "minute", "second",
    ],
    arithmetic: ["add", "sub", "mul"], hasParentheses: false, selectsPaths: true, keysBehindNavigation: true)

  /// S/4HANA's V4 as `mock-sap` speaks it.
  static let mockSAPV4 = QueryFeatures(
    functions: mockSAPV2.functions.subtracting(["substringof"]).union(["contains"]),
    arithmetic: ["add", "sub", "mul"], hasParentheses: false,
    expandOptions: ["$select", "$filter", "$orderby", "$top", "$skip", "$count"],
    selectsPaths: true, aggregates: ["sum", "min", "max", "average", "countdistinct"], applySteps: ["filter"],
    keysBehindNavigation: true)

  /// `odatapy`.
  static let odataPy = QueryFeatures(
    functions: [
      "contains", "startswith", "endswith", "indexof", "tolower", "toupper", "trim", "length", "concat", "substring",
      "year", "month", "day", "hour", "minute", "second", "fractionalseconds", "totaloffsetminutes", "totalseconds",
      "date", "time", "round", "floor", "ceiling", "matchesPattern",
    ],
    arithmetic: ["add", "sub", "mul", "div", "divby", "mod"], hasLambdas: true, hasNavigationPaths: true,
    hasCountInPaths: true, hasCasts: true, hasIn: true, hasEnumerations: true, ordersByExpressions: true,
    expandOptions: ["$select", "$filter", "$orderby", "$top", "$skip", "$count", "$expand", "$levels"],
    selectsPaths: true,
    hasReferences: true, hasSearch: true, hasCompute: true, hasCrossjoin: true, hasDateArithmetic: true, hasGeo: true,
    expandsAgain: false,
    aggregates: ["sum", "min", "max", "average", "countdistinct"], applySteps: ["filter", "compute"],
    keysBehindNavigation: true)
}
