/// An entity or complex value inside an expression: its members are the fields of its type.
///
/// `$0.price` is the property that has this name in ``ODataDescribed/Fields``, `$0["Price"]` any property by its name
/// in the service.
@dynamicMemberLookup
public struct ODataInstance<Entity: ODataDescribed>: Sendable {
  /// The path of the instance.
  package let path: ODataPath

  /// Creates the instance at a path.
  package init(path: ODataPath) { self.path = path }

  /// A member by its field.
  public subscript<Member: ODataMember>(dynamicMember field: KeyPath<Entity.Fields, Member>) -> Member.Operand {
    Entity.Fields()[keyPath: field].operand(at: path)
  }

  /// A member by its name, which the type need not declare.
  public subscript(name: String) -> ODataDynamic { ODataDynamic(path: path.appending(.name(name))) }

  /// Casts the instance to a derived type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataInstance<Derived> {
    ODataInstance<Derived>(path: path.appending(.qualifiedName(Derived.odataTypeName)))
  }

  /// `isof`: whether the instance is of a type.
  public func isOf<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataOperand<Bool> {
    let isSelf = path == .instance
    return ODataOperand<Bool>(.isof(isSelf ? nil : path.instanceExpression, ODataTypeName(Derived.odataTypeName)))
  }

  /// Whether the instance is null.
  public static func == (left: ODataInstance, right: ODataNull) -> ODataOperand<Bool> {
    ODataOperand<Bool>(.binary(.equal, left.path.instanceExpression, right.odataExpression))
  }

  /// Whether the instance is not null.
  public static func != (left: ODataInstance, right: ODataNull) -> ODataOperand<Bool> {
    ODataOperand<Bool>(.binary(.notEqual, left.path.instanceExpression, right.odataExpression))
  }
}

/// `nil` on one side of a comparison.
public struct ODataNull: ExpressibleByNilLiteral, Sendable {
  /// Creates null.
  public init(nilLiteral: ()) {}

  var odataExpression: ODataExpression { ODataExpression(.literal(.null)) }
}

/// A collection of entities or complex values inside an expression.
public struct ODataItems<Entity: ODataDescribed>: Sendable {
  /// The path of the collection.
  package let path: ODataPath

  /// Creates the collection at a path.
  package init(path: ODataPath) { self.path = path }

  /// `any()`: whether there is an item.
  public func any() -> ODataOperand<Bool> { ODataOperand<Bool>(path: path.appending(.any(nil))) }

  /// `any(x:…)`: whether an item meets a condition.
  public func any(_ condition: (ODataInstance<Entity>) -> ODataOperand<Bool>) -> ODataOperand<Bool> {
    let lambda = LambdaScope.lambda { condition(ODataInstance(path: $0)) }
    return ODataOperand<Bool>(path: path.appending(.any(lambda)))
  }

  /// `all(x:…)`: whether all items meet a condition.
  public func all(_ condition: (ODataInstance<Entity>) -> ODataOperand<Bool>) -> ODataOperand<Bool> {
    let lambda = LambdaScope.lambda { condition(ODataInstance(path: $0)) }
    return ODataOperand<Bool>(path: path.appending(.all(lambda)))
  }

  /// `$count`
  public var count: ODataOperand<Int> { ODataOperand<Int>(path: path.appending(.count(nil))) }

  /// `$count($filter=…)`: the number of items that meet a condition (4.01).
  public func count(where condition: (ODataInstance<Entity>) -> ODataOperand<Bool>) -> ODataOperand<Int> {
    var options = ODataQueryOptions()
    options.filter = condition(ODataInstance(path: .instance)).expression
    return ODataOperand<Int>(path: path.appending(.count(options)))
  }

  /// Casts the items to a derived type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataItems<Derived> {
    ODataItems<Derived>(path: path.appending(.qualifiedName(Derived.odataTypeName)))
  }
}

/// A collection of primitive values inside an expression.
public struct ODataValues<Value: ODataPrimitive>: Sendable {
  /// The path of the collection.
  package let path: ODataPath

  /// Creates the collection at a path.
  package init(path: ODataPath) { self.path = path }

  /// `any()`: whether there is a value.
  public func any() -> ODataOperand<Bool> { ODataOperand<Bool>(path: path.appending(.any(nil))) }

  /// `any(x:…)`: whether a value meets a condition.
  public func any(_ condition: (ODataOperand<Value>) -> ODataOperand<Bool>) -> ODataOperand<Bool> {
    let lambda = LambdaScope.lambda { condition(ODataOperand(path: $0)) }
    return ODataOperand<Bool>(path: path.appending(.any(lambda)))
  }

  /// `all(x:…)`: whether all values meet a condition.
  public func all(_ condition: (ODataOperand<Value>) -> ODataOperand<Bool>) -> ODataOperand<Bool> {
    let lambda = LambdaScope.lambda { condition(ODataOperand(path: $0)) }
    return ODataOperand<Bool>(path: path.appending(.all(lambda)))
  }

  /// `$count`
  public var count: ODataOperand<Int> { ODataOperand<Int>(path: path.appending(.count(nil))) }

  /// `hassubset`: whether the collection contains all of the given values (4.01).
  public func hasSubset(_ values: [Value]) -> ODataOperand<Bool> {
    let array = ODataExpression(.array(values.map(\.odataExpression)))
    return ODataOperand<Bool>(.call(.hassubset, [path.instanceExpression, array]))
  }
}
