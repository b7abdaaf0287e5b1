/// An expression with every name looked up and its type known (URL Conventions 4.01 §5.1.1).
///
/// Both dialects have one bound form: `substringof('x',Name)` of V2 is `contains(Name,'x')`, `datetime'…'` compared
/// with a property is a value of the property's type. Parameter aliases are replaced by their values. Equality ignores
/// positions.
package struct ODataBoundExpression: Sendable, Hashable {
  /// The kind of the expression.
  package var kind: Kind
  /// The type of its value.
  package var type: ODataBoundType
  /// The position in the text.
  package var position: SourcePosition

  init(_ kind: Kind, _ type: ODataBoundType, at position: SourcePosition = .none) {
    self.kind = kind
    self.type = type
    self.position = position
  }

  /// The kinds of expressions.
  package enum Kind: Sendable, Hashable {
    /// A primitive value. If the other operand has another type that holds the value exactly, it has that type.
    case literal(ODataValue)
    /// A value of an enumeration.
    case enumeration(ODataDeclaredEnum, Int64)
    /// A path.
    case path(ODataBoundPath)
    /// True if all of two or more expressions are true.
    case and([ODataBoundExpression])
    /// True if one of two or more expressions is true.
    case or([ODataBoundExpression])
    /// `not`
    indirect case not(ODataBoundExpression)
    /// `-`
    indirect case negate(ODataBoundExpression)
    /// A binary operator. The operands are promoted to the type ``ODataBoundType/promoted(_:_:)`` of their types.
    indirect case binary(ODataBinaryOperator, ODataBoundExpression, ODataBoundExpression)
    /// `left in right`: the right side is a ``list(_:)``, an ``array(_:)`` or an expression with a collection as its value.
    indirect case membership(ODataBoundExpression, ODataBoundExpression)
    /// `(1,2,3)` after `in`.
    case list([ODataBoundExpression])
    /// A canonical function. `concat` of strings may have more than two arguments; V2's `substringof` is `contains`.
    case call(ODataCanonicalFunction, [ODataBoundExpression])
    /// `cast`; without an operand, of the current instance.
    indirect case cast(ODataBoundExpression?, ODataBoundType)
    /// `isof`
    indirect case isof(ODataBoundExpression?, ODataBoundType)
    /// `case(condition:value,…)`
    case conditional([ODataBoundBranch])
    /// `isdefined(path)`
    case isdefined(ODataBoundPath)
    /// `[…]`
    case array([ODataBoundExpression])
    /// `{"name":…}`
    case object([ODataBoundMember])
  }

  /// Whether the expression is the literal `null`.
  package var isNull: Bool {
    if case .literal(.null) = kind { true } else { false }
  }
}

/// One branch of `case`.
package struct ODataBoundBranch: Sendable, Hashable {
  /// The condition under which the branch is taken.
  package var condition: ODataBoundExpression
  /// The value of the branch.
  package var value: ODataBoundExpression
}

/// A member of an object.
package struct ODataBoundMember: Sendable, Hashable {
  /// The name of a property or of control information.
  package var name: String
  /// The property; nil for dynamic ones, navigation properties and control information.
  package var property: ODataDeclaredProperty?
  /// Its value.
  package var value: ODataBoundExpression
}
