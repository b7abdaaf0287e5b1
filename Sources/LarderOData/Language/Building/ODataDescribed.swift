/// A Swift type that describes the entities of a set, or complex values: it lists the names by which queries reach
/// their properties.
///
/// ```swift
/// struct Product: ODataDescribed {
///   static let odataTypeName = "Shop.Product"
///   struct Fields: ODataFields {
///     let name = Field<String>("Name")
///     let price = Field<ODataDecimal>("Price")
///     let category = Navigation<Category>("Category")
///     let reviews = NavigationCollection<Review>("Reviews")
///     let address = ComplexField<Address>("Address")
///     let tags = CollectionField<String>("Tags")
///   }
/// }
/// ```
///
/// Any property may be null; there is no optional field. A public `Fields` needs a public `init()`.
public protocol ODataDescribed: Sendable {
  /// The type's qualified name, for casts.
  static var odataTypeName: String { get }
  /// The names of its properties.
  associatedtype Fields: ODataFields
  /// Whether the service deletes entities of the type; ``ODataForbidden`` if the metadata say that it does not.
  associatedtype ODataDeletion = ODataAllowed
  /// What `$select` names to read all properties of the type: their names, or `*`. Empty if they are not known.
  static var odataSelection: [String] { get }
}

extension ODataDescribed {
  /// The properties of the type are not known.
  public static var odataSelection: [String] { [] }
}

/// Something that a service allows.
public enum ODataAllowed {}

/// Something that a service does not allow, so that the compiler rejects it.
public enum ODataForbidden {}

/// The properties of an ``ODataDescribed`` type, each with its name in the service and the type of its values. The
/// fields of a derived type may be a class that inherits those of its base type.
public protocol ODataFields {
  /// Creates the fields.
  init()
}

extension ODataFields {
  /// A primitive property.
  public typealias Field<Value: ODataPrimitive> = ODataField<Value>
  /// A collection of primitive values.
  public typealias CollectionField<Value: ODataPrimitive> = ODataCollectionField<Value>
  /// A complex property.
  public typealias ComplexField<Value: ODataDescribed> = ODataComplexField<Value>
  /// A collection of complex values.
  public typealias ComplexCollection<Value: ODataDescribed> = ODataComplexCollection<Value>
  /// A navigation property to one entity, or none.
  public typealias Navigation<Entity: ODataDescribed> = ODataNavigation<Entity, ODataAllowed>
  /// A navigation property to several entities.
  public typealias NavigationCollection<Entity: ODataDescribed> = ODataNavigationCollection<Entity, ODataAllowed>
  /// A navigation property to one entity, or none, that cannot be in `$expand`.
  public typealias UnexpandableNavigation<Entity: ODataDescribed> = ODataNavigation<Entity, ODataForbidden>
  /// A navigation property to several entities that cannot be in `$expand`.
  public typealias UnexpandableCollection<Entity: ODataDescribed> = ODataNavigationCollection<Entity, ODataForbidden>
  /// A property that cannot be in `$filter`.
  public typealias Unfilterable<Member: ODataMember> = ODataUnfilterable<Member>
  /// A property that cannot be in `$orderby`.
  public typealias Unsortable<Member: ODataMember> = ODataUnsortable<Member>
}

/// Entities or values of unknown type, whose properties are accessed by name: `$0["Name"]`.
public struct ODataUntyped: ODataDescribed {
  /// The untyped type, `Edm.Untyped`.
  public static let odataTypeName = "Edm.Untyped"

  /// No fields.
  public struct Fields: ODataFields {
    /// Creates no fields.
    public init() {}
  }
}

/// A property in ``ODataFields``, with its forms in an expression, in `$select` and in `$expand`.
public protocol ODataMember {
  /// The property's form in an expression.
  associatedtype Operand
  /// The property's form in an order.
  associatedtype Ordering = Operand
  /// The property's form in a selection.
  associatedtype Selection

  /// The property of the instance at a path.
  func operand(at path: ODataPath) -> Operand
  /// The property of the instance at a path, in `$orderby`.
  func ordering(at path: ODataPath) -> Ordering
  /// The property below a path of complex properties.
  func selection(at path: ODataPath) -> Selection
}

extension ODataMember where Ordering == Operand {
  /// The property of the instance at a path.
  public func ordering(at path: ODataPath) -> Operand { operand(at: path) }
}

/// A property that `$expand` can expand, or pass through.
public protocol ODataExpandableMember: ODataMember {
  /// The property's form in an expansion.
  associatedtype Expansion

  /// The property below a path of complex properties.
  func expansion(at path: ODataPath) -> Expansion
}

/// A primitive property.
public struct ODataField<Value: ODataPrimitive>: ODataMember, Sendable {
  /// The property's name in the service.
  package let name: String

  /// Creates a property with a name.
  public init(_ name: String) { self.name = name }

  /// The property as an operand.
  public func operand(at path: ODataPath) -> ODataOperand<Value> { ODataOperand(path: path.appending(.name(name))) }
  /// The property in `$select`.
  public func selection(at path: ODataPath) -> ODataSelectItem { ODataSelectItem(path.appending(.name(name))) }
}

/// A collection of primitive values.
public struct ODataCollectionField<Value: ODataPrimitive>: ODataMember, Sendable {
  /// The property's name in the service.
  package let name: String

  /// Creates a property with a name.
  public init(_ name: String) { self.name = name }

  /// The values, for conditions on any or all of them.
  public func operand(at path: ODataPath) -> ODataValues<Value> { ODataValues(path: path.appending(.name(name))) }
  /// The property in `$select`.
  public func selection(at path: ODataPath) -> ODataSelectItem { ODataSelectItem(path.appending(.name(name))) }
}

/// A complex property.
public struct ODataComplexField<Value: ODataDescribed>: ODataExpandableMember, Sendable {
  /// The property's name in the service.
  package let name: String

  /// Creates a property with a name.
  public init(_ name: String) { self.name = name }

  /// The value; its members can follow.
  public func operand(at path: ODataPath) -> ODataInstance<Value> { ODataInstance(path: path.appending(.name(name))) }
  /// The value in `$orderby`; its members can follow.
  public func ordering(at path: ODataPath) -> ODataOrdering<Value> { ODataOrdering(path.appending(.name(name))) }
  /// The property in `$select`, or one of its members.
  public func selection(at path: ODataPath) -> ODataSelection<Value> { ODataSelection(path.appending(.name(name))) }
  /// The path to the navigation properties of the value.
  public func expansion(at path: ODataPath) -> ODataExpansion<Value> { ODataExpansion(path.appending(.name(name))) }
}

/// A collection of complex values.
public struct ODataComplexCollection<Value: ODataDescribed>: ODataExpandableMember, Sendable {
  /// The property's name in the service.
  package let name: String

  /// Creates a property with a name.
  public init(_ name: String) { self.name = name }

  /// The values, for conditions on any or all of them.
  public func operand(at path: ODataPath) -> ODataItems<Value> { ODataItems(path: path.appending(.name(name))) }
  /// The property in `$select`, with options of its own.
  public func selection(at path: ODataPath) -> ODataSelectedItems<Value> {
    ODataSelectedItems(path.appending(.name(name)))
  }
  /// The path to the navigation properties of the values.
  public func expansion(at path: ODataPath) -> ODataExpansion<Value> { ODataExpansion(path.appending(.name(name))) }
}

/// A navigation property to one entity, or none. `Expanding` says whether it can be in `$expand`.
public struct ODataNavigation<Entity: ODataDescribed, Expanding>: ODataMember, Sendable {
  /// The property's name in the service.
  package let name: String

  /// Creates a property with a name.
  public init(_ name: String) { self.name = name }

  /// The entity; its members can follow.
  public func operand(at path: ODataPath) -> ODataInstance<Entity> { ODataInstance(path: path.appending(.name(name))) }
  /// The entity in `$orderby`; its members can follow.
  public func ordering(at path: ODataPath) -> ODataOrdering<Entity> { ODataOrdering(path.appending(.name(name))) }
  /// The property's link in `$select`.
  public func selection(at path: ODataPath) -> ODataSelectItem { ODataSelectItem(path.appending(.name(name))) }
}

extension ODataNavigation: ODataExpandableMember where Expanding == ODataAllowed {
  /// The entity in `$expand`.
  public func expansion(at path: ODataPath) -> ODataExpandedEntity<Entity> {
    ODataExpandedEntity(path.appending(.name(name)))
  }
}

/// A navigation property to several entities. `Expanding` says whether it can be in `$expand`.
public struct ODataNavigationCollection<Entity: ODataDescribed, Expanding>: ODataMember, Sendable {
  /// The property's name in the service.
  package let name: String

  /// Creates a property with a name.
  public init(_ name: String) { self.name = name }

  /// The entities, for conditions on any or all of them.
  public func operand(at path: ODataPath) -> ODataItems<Entity> { ODataItems(path: path.appending(.name(name))) }
  /// The property's link in `$select`.
  public func selection(at path: ODataPath) -> ODataSelectItem { ODataSelectItem(path.appending(.name(name))) }
}

extension ODataNavigationCollection: ODataExpandableMember where Expanding == ODataAllowed {
  /// The entities in `$expand`.
  public func expansion(at path: ODataPath) -> ODataExpandedCollection<Entity> {
    ODataExpandedCollection(path.appending(.name(name)))
  }
}

extension ODataPath {
  /// Returns the path with one more step.
  package func appending(_ step: ODataPathSegment.Kind) -> ODataPath {
    ODataPath(root: root, segments + [ODataPathSegment(step)])
  }

  /// Returns the path with one more name.
  package func appending(_ name: String) -> ODataPath { appending(.name(name)) }

  /// The instance that an option applies to.
  static let instance = ODataPath([])
}
