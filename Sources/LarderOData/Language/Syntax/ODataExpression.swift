/// An expression as written, with names not yet looked up (URL Conventions 4.01 §5.1.1; ABNF `commonExpr`).
///
/// Both dialects have one tree: if V2 has another spelling (`datetime'…'`, `substringof`), the values and functions
/// differ but not their places. Parentheses leave no node; chains of `and` and of `or` are one node each, however long.
public struct ODataExpression: Sendable, Hashable {
  /// The kind of the expression.
  package var kind: Kind
  /// The position in the text: of the first character, or of the operator if it is binary.
  package var position: SourcePosition

  /// Creates an expression.
  package init(_ kind: Kind, at position: SourcePosition = .none) {
    self.kind = kind
    self.position = position
  }

  /// The kinds of expressions.
  package enum Kind: Sendable, Hashable {
    /// A primitive literal. Numbers have the smallest type that their form allows: Int32, Int64, Decimal; `INF` is
    /// Double.
    case literal(ODataValue)
    /// A member of an enumeration, or several: `Sales.Pattern'Red,Yellow'`.
    indirect case enumeration(ODataEnumerationLiteral)
    /// A path from the current instance, a variable or the service's root.
    case path(ODataPath)
    /// True if all of two or more expressions are true; none of them is itself `and`.
    case and([ODataExpression])
    /// True if one of two or more expressions is true; none of them is itself `or`.
    case or([ODataExpression])
    /// `not`
    indirect case not(ODataExpression)
    /// `-` before an expression other than a number.
    indirect case negate(ODataExpression)
    /// A binary operator with its operands.
    indirect case binary(ODataBinaryOperator, ODataExpression, ODataExpression)
    /// `left in right`: the right side is a ``list(_:)`` or an expression with a collection as its value.
    indirect case membership(ODataExpression, ODataExpression)
    /// `(1,2,3)` after `in`.
    case list([ODataExpression])
    /// A canonical function.
    case call(ODataCanonicalFunction, [ODataExpression])
    /// `cast(type)` or `cast(expression,type)`
    indirect case cast(ODataExpression?, ODataTypeName)
    /// `isof(type)` or `isof(expression,type)`
    indirect case isof(ODataExpression?, ODataTypeName)
    /// `case(condition:value,…)` (§5.1.1.10)
    case conditional([ODataConditionalBranch])
    /// `isdefined(path)` (Data Aggregation §5.3)
    case isdefined(ODataPath)
    /// `[…]`, JSON in the URL (§5.1.1.14).
    case array([ODataExpression])
    /// `{"name":…}`
    case object([ODataObjectMember])
  }
}

/// One branch of `case`.
package struct ODataConditionalBranch: Sendable, Hashable {
  /// The condition under which the branch is taken.
  package var condition: ODataExpression
  /// The value of the branch.
  package var value: ODataExpression

  /// Creates a branch.
  package init(condition: ODataExpression, value: ODataExpression) {
    self.condition = condition
    self.value = value
  }
}

/// A member of an object in the URL.
package struct ODataObjectMember: Sendable, Hashable {
  /// The name of a property or of control information (`@odata.type`).
  package var name: String
  /// Its value.
  package var value: ODataExpression

  /// Creates a member.
  package init(name: String, value: ODataExpression) {
    self.name = name
    self.value = value
  }
}

/// `Sales.Pattern'Red,Yellow'`
package struct ODataEnumerationLiteral: Sendable, Hashable {
  /// The type's name as written, qualified or not; nil if only the members are written (in built trees; in parsed text,
  /// a literal without a type is a string until it is bound).
  package var typeName: String?
  /// Names or numbers, joined by commas.
  package var members: String

  /// Creates an enumeration literal.
  package init(typeName: String?, members: String) {
    self.typeName = typeName
    self.members = members
  }
}

/// The name of a type as an operand: `Edm.Int32`, `Sales.Customer`, `Customer`, `Collection(Edm.String)`.
package struct ODataTypeName: Sendable, Hashable {
  /// The name; for a collection, that of its items.
  package var name: String
  /// Whether the type is `Collection(…)`.
  package var isCollection: Bool
  /// The position in the text.
  package var position: SourcePosition

  /// Creates a type's name.
  package init(_ name: String, isCollection: Bool = false, at position: SourcePosition = .none) {
    self.name = name
    self.isCollection = isCollection
    self.position = position
  }
}
