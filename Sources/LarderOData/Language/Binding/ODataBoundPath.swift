/// A path with every step looked up.
package struct ODataBoundPath: Sendable, Hashable {
  /// The root of the path.
  package var root: Root
  /// Its steps.
  package var segments: [ODataBoundSegment]
  /// The type of the root; nil at the service's root.
  package var rootType: ODataBoundType?

  init(root: Root, rootType: ODataBoundType?, segments: [ODataBoundSegment] = []) {
    self.root = root
    self.rootType = rootType
    self.segments = segments
  }

  /// The kinds of roots.
  package enum Root: Sendable, Hashable {
    /// At the current instance; for a resource path, at the service's root.
    case implicit
    /// `$it`
    case it
    /// `$this`
    case this
    /// `$these`
    case these
    /// `$root`
    case root
    /// The variable of an enclosing lambda.
    indirect case variable(String)
    /// The path begins at the value of an expression: of `cast(…)`, or of an alias.
    indirect case expression(ODataBoundExpression)
  }

  /// The type that the path leads to; nil at the service's root, and after an action without a result.
  package var type: ODataBoundType? { segments.isEmpty ? rootType : segments[segments.count - 1].type }

  /// The set or singleton of the entities at the end of the path; nil if the model does not declare it.
  package var source: ODataBoundSource? { segments.isEmpty ? nil : segments[segments.count - 1].source }

  /// The kind of the last step.
  var lastKind: ODataBoundSegment.Kind? { segments.isEmpty ? nil : segments[segments.count - 1].kind }
}

/// The entity set or singleton that entities belong to. Consecutive steps that stay in it share one object.
package final class ODataBoundSource: Sendable, Hashable {
  /// The set or singleton.
  package let source: ODataNavigationSource
  /// The containment navigation properties from the set to the entities, if they are contained in others.
  package let containment: [ODataDeclaredNavigation]

  init(source: ODataNavigationSource, containment: [ODataDeclaredNavigation]) {
    self.source = source
    self.containment = containment
  }

  /// Whether set and containment are equal.
  package static func == (left: ODataBoundSource, right: ODataBoundSource) -> Bool {
    left === right || left.source == right.source && left.containment == right.containment
  }

  /// Hashes the set.
  package func hash(into hasher: inout Hasher) { hasher.combine(source) }
}

/// One step of a bound path. A key is a step of its own after the collection that it selects from.
package struct ODataBoundSegment: Sendable, Hashable {
  /// The kind of the step.
  package var kind: Kind
  /// The type that the step leads to; nil after `$all`, `$crossjoin` and an action without a result.
  package var type: ODataBoundType?
  /// The set of the entities that the step leads to; nil if there are none, or if the model does not declare it.
  package var source: ODataBoundSource?
  /// The position in the text.
  package var position: SourcePosition

  init(
    _ kind: Kind, _ type: ODataBoundType?, source: ODataBoundSource? = nil, at position: SourcePosition = .none
  ) {
    self.kind = kind
    self.type = type
    self.source = source
    self.position = position
  }

  /// The kinds of steps.
  package enum Kind: Sendable, Hashable {
    /// An entity set or a singleton.
    case source(ODataNavigationSource)
    /// A structural property.
    case property(ODataDeclaredProperty)
    /// A navigation property.
    case navigation(ODataDeclaredNavigation)
    /// An undeclared property of an open type, or a member of an untyped value.
    case dynamic(String)
    /// An alias of `$compute`, `$apply`, `$crossjoin` or a transformation.
    case computed(String)
    /// The node of the `rolluprecursive` of a number, from 1 (Data Aggregation 4.0 §6.3).
    case rollupNode(Int)
    /// A key with all its parts.
    case key([ODataBoundKeyPart])
    /// The position in an ordered collection; negative from its end.
    case ordinal(Int)
    /// A type cast.
    case cast(EdmStructure)
    /// A bound or unbound function or action, with its arguments in the order of the parameters.
    case operation(ODataDeclaredOperation, [ODataBoundArgument])
    /// A function or action import.
    indirect case operationImport(ODataDeclaredImport, ODataDeclaredOperation, [ODataBoundArgument])
    /// All overloads of an operation, in `$select`.
    case operations(String)
    /// `@Ns.Term#qualifier`
    indirect case annotation(String, qualifier: String?)
    /// `$count`, with `$filter` and `$search` in parentheses if given.
    indirect case count(ODataBoundOptions?)
    /// `$value`
    case value
    /// `$ref`; also V2's `$links`.
    case ref
    /// `$each`
    case each
    /// `$query`
    case query
    /// `$filter(…)`
    indirect case filter(ODataBoundExpression)
    /// `any`
    indirect case any(ODataBoundLambda?)
    /// `all`
    indirect case all(ODataBoundLambda)
    /// `aggregate(…)`
    indirect case aggregate(ODataBoundAggregate)
    /// `*`
    case star
    /// `Ns.*`: all operations of a namespace.
    case allOperations(String)
    /// `$crossjoin(…)`
    case crossjoin([ODataNavigationSource])
    /// `$all`
    case allEntities
  }
}

/// One part of a key in a URL.
package struct ODataBoundKeyPart: Sendable, Hashable {
  /// The part.
  package var part: ODataDeclaredKeyPart
  /// The value, of the part's type; nil if it follows from a referential constraint and the URL does not contain it
  /// (the principal is a singleton, or the path began elsewhere).
  package var value: ODataBoundExpression?
  /// Whether the URL omits the part, because a referential constraint ties it to the entity before (§4.3.2).
  package var isImplied = false
}

/// An argument of a function or action.
package struct ODataBoundArgument: Sendable, Hashable {
  /// The parameter.
  package var parameter: ODataDeclaredOperation.Parameter
  /// The value, of the parameter's type.
  package var value: ODataBoundExpression
}

/// `variable:predicate` of `any` and `all`.
package struct ODataBoundLambda: Sendable, Hashable {
  /// The variable's name.
  package var variable: String
  /// The condition that is evaluated for each item.
  package var predicate: ODataBoundExpression
}
