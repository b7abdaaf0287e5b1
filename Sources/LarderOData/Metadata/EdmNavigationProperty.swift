/// A navigation property (CSDL 4.01 §8). One of V1 to V3 is resolved through its association and has the same content.
public struct EdmNavigationProperty: EdmAnnotatable, Hashable {
  /// The name, unique in the type.
  public var name: String
  /// The entity type, or a collection of it.
  public var type: EdmTypeReference
  /// Whether there may be no related entity; nil if the document does not say.
  public var nullable: Bool?
  /// The path of the navigation property that leads back.
  public var partner: String?
  /// Whether the related entities are contained in this one (CSDL 4.01 §8.4).
  public var containsTarget = false
  /// Properties of this type that repeat those of the related entity.
  public var referentialConstraints: [EdmReferentialConstraint] = []
  /// What happens to related entities when this one is deleted.
  public var onDelete: EdmOnDelete?
  /// V1 to V3: the association and the direction it is followed in.
  public var relationship: EdmRelationship?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a navigation property.
  package init(name: String, type: EdmTypeReference, nullable: Bool? = nil) {
    self.name = name
    self.type = type
    self.nullable = nullable
  }

  /// Whether the property leads to any number of entities.
  public var isCollection: Bool { type.isCollection }

  /// Whether the property may lead to no entity; true if the document does not say.
  public var isNullable: Bool { nullable ?? true }

  /// The number of entities that the property leads to.
  public var multiplicity: EdmMultiplicity {
    isCollection ? .many : isNullable ? .zeroOrOne : .one
  }
}

/// V1 to V3: the association of a navigation property, and its direction.
public struct EdmRelationship: Sendable, Hashable {
  /// The association's qualified name.
  public var association: String
  /// The end that the property starts from.
  public var fromRole: String
  /// The end that the property leads to.
  public var toRole: String

  /// Creates a relationship.
  package init(association: String, fromRole: String, toRole: String) {
    self.association = association
    self.fromRole = fromRole
    self.toRole = toRole
  }
}

/// The number of entities at an end of an association.
public enum EdmMultiplicity: String, Sendable, Hashable {
  /// At most one.
  case zeroOrOne = "0..1"
  /// Exactly one.
  case one = "1"
  /// Any number.
  case many = "*"
}

/// A property that has the value of a property of the related entity (CSDL 4.01 §8.5).
public struct EdmReferentialConstraint: EdmAnnotatable, Hashable {
  /// The path of the dependent property, in the type that declares the navigation property.
  public var property: String
  /// The path of the property of the related entity.
  public var referencedProperty: String
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a constraint.
  package init(property: String, referencedProperty: String) {
    self.property = property
    self.referencedProperty = referencedProperty
  }
}

/// What happens to related entities on a deletion (CSDL 4.01 §8.6).
public struct EdmOnDelete: EdmAnnotatable, Hashable {
  /// `Cascade`, `None`, `SetNull`, `SetDefault`, or another word in the document.
  public var action: String
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an action.
  package init(action: String) { self.action = action }
}
