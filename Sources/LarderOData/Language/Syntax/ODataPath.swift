/// A path: of a resource, inside an expression, or in `$select`, `$expand`, `$orderby` and `$apply`.
///
/// The grammar alone cannot distinguish a key from a function's parameters (`Orders(ID=1)`, `Top(count=1)`) or a
/// property from a type in the default namespace, so they have one form until the path is bound to a model.
public struct ODataPath: Sendable, Hashable {
  /// The root of the path.
  package var root: Root
  /// Its steps.
  package var segments: [ODataPathSegment]
  /// The position in the text.
  package var position: SourcePosition

  /// Creates a path.
  package init(root: Root = .implicit, _ segments: [ODataPathSegment], at position: SourcePosition = .none) {
    self.root = root
    self.segments = segments
    self.position = position
  }

  /// The kinds of roots.
  package enum Root: Sendable, Hashable {
    /// At the current instance, or at the service's root for a resource path.
    case implicit
    /// `$it`: the instance that the resource path identifies (§5.1.1.6.1 `$it`).
    case it
    /// `$this`: the instance that the query option is evaluated on.
    case this
    /// `$these`: the collection that is being transformed (Data Aggregation).
    case these
    /// `$root`: the service's root.
    case root
    /// The variable of an enclosing lambda.
    indirect case variable(String)
    /// `@name`: a parameter alias.
    indirect case alias(String)
    /// The value of an expression: `cast(…)`, which steps may follow.
    indirect case expression(ODataExpression)
  }
}

/// One step of a path.
package struct ODataPathSegment: Sendable, Hashable {
  /// The kind of the step.
  package var kind: Kind
  /// The position of its first character in the text.
  package var position: SourcePosition

  /// Creates a step.
  package init(_ kind: Kind, at position: SourcePosition = .none) {
    self.kind = kind
    self.position = position
  }

  /// The kinds of steps.
  package enum Kind: Sendable, Hashable {
    /// An unqualified name: entity set, property, type or operation of the default namespace, key as a segment.
    case name(String)
    /// A name with a namespace or alias: a type, or an operation.
    case qualifiedName(String)
    /// A step that is not a name: a key as a segment or an ordinal, decoded.
    case text(String)
    /// `(…)` after the previous step: a key, or a function's parameters. Empty for `()`.
    case arguments([ODataArgument])
    /// `@Ns.Term#qualifier`
    indirect case annotation(term: String, qualifier: String?)
    /// `$count`, in expressions and `$expand` with options in parentheses.
    indirect case count(ODataQueryOptions?)
    /// `$value`
    case value
    /// `$ref`
    case ref
    /// `$each`
    case each
    /// `$query`
    case query
    /// `$links` (V1 to V3)
    case links
    /// `$filter(…)`
    indirect case filter(ODataExpression)
    /// `any(…)`; without a lambda, it is true if there is any item.
    indirect case any(ODataLambda?)
    /// `all(…)`
    indirect case all(ODataLambda)
    /// `aggregate(…)` (Data Aggregation §5.2)
    indirect case aggregate(ODataAggregateExpression)
    /// `*`
    case star
    /// `Ns.*`: all operations of a namespace or alias.
    case allOperations(String)
    /// `$crossjoin(…)`, the first step of a resource path.
    case crossjoin([String])
    /// `$all`, the first step of a resource path.
    case allEntities
  }
}

/// One argument in parentheses: a part of a key, or a parameter.
package struct ODataArgument: Sendable, Hashable {
  /// The name; nil for a key of one part.
  package var name: String?
  /// The value: a literal or an alias; in expressions, any expression.
  package var value: ODataExpression

  /// Creates an argument.
  package init(name: String? = nil, value: ODataExpression) {
    self.name = name
    self.value = value
  }
}

/// `variable:predicate` of `any` and `all`.
package struct ODataLambda: Sendable, Hashable {
  /// The variable's name.
  package var variable: String
  /// The condition that is evaluated for each item.
  package var predicate: ODataExpression

  /// Creates a lambda.
  package init(variable: String, predicate: ODataExpression) {
    self.variable = variable
    self.predicate = predicate
  }
}
