/// The result of parsing a text by a rule of the standard's grammar.
package enum ODataSyntaxTree: Sendable, Hashable {
  /// A URL.
  case url(ODataURL)
  /// A path, or the rest of one.
  case path(ODataPath)
  /// `(…)`: a key or parameters.
  case arguments([ODataArgument])
  /// Query options.
  case options(ODataQueryOptions)
  /// `@name=value`
  case alias(ODataAlias)
  /// An option that OData does not define.
  case custom(ODataCustomOption)
  /// Items of `$orderby`.
  case orderBy([ODataOrderByItem])
  /// Items of `$compute`.
  case compute([ODataComputeItem])
  /// Items of `$select`.
  case select([ODataSelectItem])
  /// Items of `$expand`.
  case expand([ODataExpandItem])
  /// A value of `$search`.
  case search(ODataSearchExpression)
  /// Transformations of `$apply`.
  case apply([ODataTransformation])
  /// An item of `aggregate`.
  case aggregate(ODataAggregateExpression)
  /// A context fragment.
  case context(ODataContextFragment)
  /// An expression.
  case expression(ODataExpression)
  /// A lambda with its operator, as a step of a path.
  case segment(ODataPathSegment)
  /// A value outside of an expression.
  case value(ODataValue)
  /// Members of an enumeration.
  case enumeration(ODataEnumerationLiteral)
  /// A type's name.
  case type(ODataTypeName)
  /// A name, or another text without parts.
  case text(String)
  /// A header.
  case header(ODataHeader)
  /// A preference.
  case preference(ODataPreference)
  /// Items of the preference `include-annotations`.
  case annotations([ODataAnnotationPattern])
}
