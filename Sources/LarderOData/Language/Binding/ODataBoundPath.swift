/// A path with every step looked up.
public struct ODataBoundPath: Sendable, Hashable {
  /// Where the path begins.
  public var root: Root
  /// Its steps.
  public var segments: [ODataBoundSegment]
  /// The type that the path begins at; nil at the service's root.
  public var rootType: ODataBoundType?

  init(root: Root, rootType: ODataBoundType?, segments: [ODataBoundSegment] = []) {
    self.root = root
    self.rootType = rootType
    self.segments = segments
  }

  /// Where a path begins.
  public enum Root: Sendable, Hashable {
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
    /// The variable of a lambda around it.
    indirect case variable(String)
    /// The path begins at the value of an expression: of `cast(…)`, or of an alias.
    indirect case expression(ODataBoundExpression)
  }

  /// What the path leads to; nil where it is the service's root, and behind an action without a result.
  public var type: ODataBoundType? { segments.isEmpty ? rootType : segments[segments.count - 1].type }

  /// The set or singleton that the entities at its end come from; nil where the model does not say.
  public var source: ODataBoundSource? { segments.isEmpty ? nil : segments[segments.count - 1].source }

  /// What its last step is.
  var lastKind: ODataBoundSegment.Kind? { segments.isEmpty ? nil : segments[segments.count - 1].kind }
}

/// The entity set or singleton that entities come from. Shared by the steps that stay in it.
public final class ODataBoundSource: Sendable, Hashable {
  /// The set or singleton.
  public let source: ODataNavigationSource
  /// The containment navigation properties on the way from it, where the entities live inside others.
  public let containment: [ODataDeclaredNavigation]

  init(source: ODataNavigationSource, containment: [ODataDeclaredNavigation]) {
    self.source = source
    self.containment = containment
  }

  /// Equal where set and way are.
  public static func == (left: ODataBoundSource, right: ODataBoundSource) -> Bool {
    left === right || left.source == right.source && left.containment == right.containment
  }

  /// Hashes the set.
  public func hash(into hasher: inout Hasher) { hasher.combine(source) }
}

/// One step of a bound path. A key stands behind the collection that it selects from.
public struct ODataBoundSegment: Sendable, Hashable {
  /// What the step is.
  public var kind: Kind
  /// The type of what it leads to; nil behind `$all`, `$crossjoin` and an action without a result.
  public var type: ODataBoundType?
  /// Where the entities that it leads to come from; nil where there are none, or the model does not say.
  public var source: ODataBoundSource?
  /// Where it stood.
  public var position: SourcePosition

  init(
    _ kind: Kind, _ type: ODataBoundType?, source: ODataBoundSource? = nil, at position: SourcePosition = .none
  ) {
    self.kind = kind
    self.type = type
    self.source = source
    self.position = position
  }

  /// The kinds of steps.
  public enum Kind: Sendable, Hashable {
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
    /// A key: every part of it.
    case key([ODataBoundKeyPart])
    /// The place in an ordered collection; negative from its end.
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
    /// `$count`, with `$filter` and `$search` in parentheses where given.
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
public struct ODataBoundKeyPart: Sendable, Hashable {
  /// The part.
  public var part: ODataDeclaredKeyPart
  /// Its value, of the part's type; nil where it follows from a referential constraint and the URL does not say it
  /// (the principal is a singleton, or the path began elsewhere).
  public var value: ODataBoundExpression?
  /// Whether the URL leaves it out, because a referential constraint ties it to the entity before (§4.3.2).
  public var isImplied = false
}

/// An argument of a function or action.
public struct ODataBoundArgument: Sendable, Hashable {
  /// The parameter.
  public var parameter: ODataDeclaredOperation.Parameter
  /// The value, of the parameter's type.
  public var value: ODataBoundExpression
}

/// `variable:predicate` of `any` and `all`.
public struct ODataBoundLambda: Sendable, Hashable {
  /// The variable's name.
  public var variable: String
  /// What is asked of each item.
  public var predicate: ODataBoundExpression
}
